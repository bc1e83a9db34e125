//! Counts that need not be made again.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use crate::{Estimator, Tokens};

/// Which count is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountKey<'a> {
    /// The entry's id.
    pub entry: &'a str,
    /// Changes whenever what the entry shows changes: a revision or a hash of
    /// its content, as the caller likes.
    pub revision: u64,
    /// Who counts.
    pub estimator: Estimator,
}

/// How well a [`CountCache`] serves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheStatistics {
    /// Counts found.
    pub hits: u64,
    /// Counts that had to be made, changed entries included.
    pub misses: u64,
    /// Counts dropped to make room.
    pub evicted: u64,
}

struct Counted {
    revision: u64,
    tokens: Tokens,
}

/// Counts per entry, so that a session is not tokenised again on every turn.
///
/// An entry has one count per estimator; a new revision takes the place of the
/// old. When full, the count that was first made goes first: sessions grow at
/// the end, and what leaves the context are the oldest entries.
pub struct CountCache {
    capacity: usize,
    by_estimator: HashMap<Estimator, HashMap<Arc<str>, Counted>>,
    oldest_first: VecDeque<(Estimator, Arc<str>)>,
    statistics: CacheStatistics,
}

impl CountCache {
    /// Room for the longest sessions seen; a few megabytes when full.
    pub const DEFAULT_CAPACITY: usize = 65_536;

    /// A cache of at most `capacity` counts, at least one.
    pub fn new(capacity: usize) -> CountCache {
        CountCache {
            capacity: capacity.max(1),
            by_estimator: HashMap::new(),
            oldest_first: VecDeque::new(),
            statistics: CacheStatistics::default(),
        }
    }

    /// The count for `key`, made by `count` if it is not here yet.
    pub fn get_or_insert_with(
        &mut self,
        key: CountKey<'_>,
        count: impl FnOnce() -> Tokens,
    ) -> Tokens {
        let counts = self.by_estimator.entry(key.estimator).or_default();
        if let Some(known) = counts.get_mut(key.entry) {
            if known.revision == key.revision {
                self.statistics.hits += 1;
                return known.tokens;
            }
            self.statistics.misses += 1;
            *known = Counted {
                revision: key.revision,
                tokens: count(),
            };
            return known.tokens;
        }
        self.statistics.misses += 1;
        let tokens = count();
        let entry: Arc<str> = key.entry.into();
        counts.insert(
            Arc::clone(&entry),
            Counted {
                revision: key.revision,
                tokens,
            },
        );
        self.oldest_first.push_back((key.estimator, entry));
        self.make_room();
        tokens
    }

    fn make_room(&mut self) {
        while self.oldest_first.len() > self.capacity {
            if let Some((estimator, entry)) = self.oldest_first.pop_front()
                && let Some(counts) = self.by_estimator.get_mut(&estimator)
            {
                counts.remove(&entry);
                self.statistics.evicted += 1;
            }
        }
    }

    /// Counts held.
    pub fn len(&self) -> usize {
        self.oldest_first.len()
    }

    /// Whether nothing is held.
    pub fn is_empty(&self) -> bool {
        self.oldest_first.is_empty()
    }

    /// Hits, misses and evictions so far.
    pub fn statistics(&self) -> CacheStatistics {
        self.statistics
    }

    /// Forgets every count; the statistics stay.
    pub fn clear(&mut self) {
        self.by_estimator.clear();
        self.oldest_first.clear();
    }
}

impl Default for CountCache {
    fn default() -> CountCache {
        CountCache::new(CountCache::DEFAULT_CAPACITY)
    }
}

impl std::fmt::Debug for CountCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CountCache")
            .field("len", &self.len())
            .field("capacity", &self.capacity)
            .field("statistics", &self.statistics)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(entry: &str, revision: u64) -> CountKey<'_> {
        CountKey {
            entry,
            revision,
            estimator: Estimator::O200k,
        }
    }

    fn never() -> Tokens {
        panic!("counted again")
    }

    #[test]
    fn an_unchanged_entry_is_counted_once() {
        let mut cache = CountCache::default();
        assert_eq!(
            cache.get_or_insert_with(key("a", 1), || Tokens(7)),
            Tokens(7)
        );
        assert_eq!(cache.get_or_insert_with(key("a", 1), never), Tokens(7));
        let expected = CacheStatistics {
            hits: 1,
            misses: 1,
            evicted: 0,
        };
        assert_eq!((cache.len(), cache.statistics()), (1, expected));
    }

    #[test]
    fn a_changed_entry_replaces_its_count() {
        let mut cache = CountCache::default();
        cache.get_or_insert_with(key("a", 1), || Tokens(7));
        assert_eq!(
            cache.get_or_insert_with(key("a", 2), || Tokens(3)),
            Tokens(3)
        );
        assert_eq!(cache.get_or_insert_with(key("a", 2), never), Tokens(3));
        assert_eq!(cache.len(), 1);
    }

    #[test]
    fn estimators_do_not_share_counts() {
        let mut cache = CountCache::default();
        cache.get_or_insert_with(key("a", 1), || Tokens(7));
        let other = CountKey {
            estimator: Estimator::Heuristic,
            ..key("a", 1)
        };
        assert_eq!(cache.get_or_insert_with(other, || Tokens(9)), Tokens(9));
        assert_eq!(cache.get_or_insert_with(key("a", 1), never), Tokens(7));
    }

    #[test]
    fn the_oldest_count_makes_room() {
        let mut cache = CountCache::new(2);
        for entry in ["a", "b", "c"] {
            cache.get_or_insert_with(key(entry, 1), || Tokens(1));
        }
        assert_eq!((cache.len(), cache.statistics().evicted), (2, 1));
        cache.get_or_insert_with(key("c", 1), never);
        cache.get_or_insert_with(key("b", 1), never);
        assert_eq!(
            cache.get_or_insert_with(key("a", 1), || Tokens(2)),
            Tokens(2)
        );
    }
}
