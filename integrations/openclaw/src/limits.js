// What a provider really takes, where it is less than the host believes.
//
// A provider that refuses a request as too long has counted other tokens than
// the host did, or has a smaller window than it says. What is assembled next
// must then be smaller than what was refused, whatever the budget says.

/** What of the refused size is tried next. */
const SHRINK = 3 / 4;
/** How much more is dared after each turn that went through. */
const GROW = 1.5;

/** The limits of the sessions, learnt and forgotten again. */
export class Limits {
  #sessions = new Map();

  /** Remembers how large a list was made. */
  assembled(session, tokens, budget) {
    if (!Number.isFinite(tokens)) return;
    const known = this.#sessions.get(session);
    this.#sessions.set(session, { limit: known?.limit, tokens, budget });
  }

  /** The provider refused it. Returns whether the next one will be smaller. */
  refused(session) {
    const known = this.#sessions.get(session);
    if (!known || known.tokens <= 0) return false;
    const limit = Math.floor(Math.min(known.tokens, known.limit ?? Infinity) * SHRINK);
    if (limit < 1) return false;
    this.#sessions.set(session, { ...known, limit });
    return true;
  }

  /** A turn went through: a little more may be tried. */
  accepted(session) {
    const known = this.#sessions.get(session);
    if (known?.limit === undefined) {
      this.#sessions.delete(session);
      return;
    }
    const limit = Math.floor(known.limit * GROW);
    if (limit >= (known.budget ?? Infinity)) this.#sessions.delete(session);
    else this.#sessions.set(session, { ...known, limit });
  }

  /** The budget of the host, or less. */
  within(session, budget) {
    const limit = this.#sessions.get(session)?.limit;
    return limit === undefined || !Number.isFinite(budget) ? budget : Math.min(budget, limit);
  }
}
