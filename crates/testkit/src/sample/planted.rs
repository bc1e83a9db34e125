//! Decisions, facts and check-lists that are planted, and their changes.

/// Who says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaker {
    User,
    Assistant,
    Tool,
}

/// A choice with its reason; `other` replaces it when the user changes their mind.
pub(super) struct Choice {
    /// `@` is the chosen thing, `%` the reason.
    pub(super) text: &'static str,
    pub(super) pick: &'static str,
    pub(super) reason: &'static str,
    pub(super) other: Option<(&'static str, &'static str)>,
    pub(super) by: Speaker,
}

const fn choice(
    by: Speaker,
    text: &'static str,
    pick: &'static str,
    reason: &'static str,
    other: Option<(&'static str, &'static str)>,
) -> Choice {
    Choice {
        text,
        pick,
        reason,
        other,
        by,
    }
}

/// How a change of mind is worded: `@` new, `&` old, `%` reason.
pub(super) const CHANGES: &[&str] = &[
    "I changed my mind: use @ instead of & because %.",
    "Scrap the decision for &, we go with @ because %.",
    "Forget & after all. Let's take @ because %.",
];

pub(super) const CHOICES: &[Choice] = &[
    choice(
        Speaker::Assistant,
        "Let's use @ because %.",
        "an append-only journal for the ~n",
        "a crash then loses at most the last ~n",
        Some((
            "a SQLite table for the ~n",
            "two processes write the ~n at the same time",
        )),
    ),
    choice(
        Speaker::User,
        "We go with @ because %.",
        "PostgreSQL 16 for the ~n store",
        "the operations team already runs it",
        Some((
            "plain files for the ~n store",
            "the operations team is giving PostgreSQL up in May",
        )),
    ),
    choice(
        Speaker::Assistant,
        "I decided on @ because %.",
        "exponential backoff with a cap of ~N seconds",
        "the upstream limits us to ~N requests a minute",
        None,
    ),
    choice(
        Speaker::User,
        "Decision: @, because %.",
        "the public API stays at version 2 and ~n moves to version 3",
        "two customers still call the old ~n route",
        Some((
            "version 2 is switched off with the next release",
            "both customers have moved to the new ~n route",
        )),
    ),
    choice(
        Speaker::Assistant,
        "I chose @ because %.",
        "to parse the ~n in one streaming pass",
        "a ~n of 2 GB does not fit into memory",
        None,
    ),
    choice(
        Speaker::Assistant,
        "We will keep @ since %.",
        "the ~a ~n beside the new one for one release",
        "older clients still read it",
        None,
    ),
    choice(
        Speaker::User,
        "Let's take @ because %.",
        "`~n-~n` as the name of the new module",
        "`~a` was already taken by the ~n team",
        None,
    ),
    choice(
        Speaker::Assistant,
        "My choice is @ because %.",
        "a unique index over ~n and ~n",
        "duplicates were only ever found by hand",
        None,
    ),
    choice(
        Speaker::User,
        "We settle on @ because %.",
        "feature flags instead of a long-lived ~n branch",
        "the last merge of that kind took ~N hours",
        None,
    ),
    choice(
        Speaker::Assistant,
        "The better way is @ because %.",
        "to compare the ~n by content hash",
        "the timestamps of the ~n are not reliable across hosts",
        None,
    ),
];

/// A fact: `@` is the value. Values have forms that occur nowhere else in a
/// sample (a longer number, a ticket of five digits), so that finding one means
/// that the fact was kept.
pub(super) struct Fact {
    pub(super) text: &'static str,
    pub(super) value: &'static str,
    pub(super) by: Speaker,
    /// How a newer value of the same thing is announced.
    pub(super) update: Option<&'static str>,
}

const fn fact(
    by: Speaker,
    value: &'static str,
    text: &'static str,
    update: Option<&'static str>,
) -> Fact {
    Fact {
        text,
        value,
        by,
        update,
    }
}

pub(super) const FACTS: &[Fact] = &[
    fact(
        Speaker::User,
        "2~p",
        "The staging gateway listens on port @.",
        Some("Correction: the staging gateway now listens on port @."),
    ),
    fact(
        Speaker::User,
        "~u",
        "The tenant to test with is @.",
        Some("Use another tenant to test with from now on: @ (the old one was deleted)."),
    ),
    fact(
        Speaker::User,
        "https://wiki.example.org/~n/~h",
        "The background is written down at @.",
        None,
    ),
    fact(
        Speaker::Tool,
        "~H",
        "release candidate built from commit @",
        Some("release candidate rebuilt from commit @"),
    ),
    fact(
        Speaker::Tool,
        "https://preview-~h.example.app",
        "preview deployed to @",
        Some("preview redeployed, it moved to @"),
    ),
    fact(
        Speaker::Assistant,
        "4~p.7",
        "The baseline run took @ ms over the reference ~n.",
        Some(
            "The baseline was measured again on the same ~n: it is @ ms, the earlier figure was wrong.",
        ),
    ),
    fact(
        Speaker::Assistant,
        "E-~N-~h",
        "The ~n that customers see carries the error code @.",
        None,
    ),
    fact(
        Speaker::User,
        "~t0",
        "The ticket for all of this is @.",
        Some("The ticket was split; ours is @ now."),
    ),
    fact(
        Speaker::Assistant,
        "/var/lib/~n/~a-~n.db",
        "The ~n on the test host lives in @.",
        None,
    ),
    fact(
        Speaker::User,
        "3~w",
        "The oldest release we have to support is @.",
        Some("We only have to support release @ and newer, not the one I named before."),
    ),
    fact(
        Speaker::Tool,
        "deadlock detected on ~n_~n_~h",
        "warning: last night: @",
        None,
    ),
    fact(
        Speaker::Assistant,
        "req_~h~h",
        "The request that shows the problem is @.",
        None,
    ),
    fact(
        Speaker::User,
        "/srv/imports/~n/~a",
        "Incoming files are dropped into @.",
        Some("Incoming files are no longer dropped where I said, but into @."),
    ),
    fact(
        Speaker::Tool,
        "5~p",
        "rows that violate the constraint: @",
        None,
    ),
    fact(
        Speaker::Assistant,
        "https://registry.example.org/v2/~n/manifests/~w",
        "The image is pulled from @.",
        None,
    ),
    fact(
        Speaker::User,
        "sg-~h~h",
        "The security group of the bastion is @.",
        None,
    ),
];

/// Items of the check-list that the agent keeps in its answers.
pub(super) const ROLLOUT: &[&str] = &[
    "Announce the ~n freeze to the ~n team",
    "Take a snapshot of the ~a ~n",
    "Dry run of the ~n on staging",
    "Switch the ~n reader to the new ~n",
    "Compare ~n counts of both sides",
    "Remove the ~a ~n after one week",
];
