// Which tests may be skipped, and what a run says about the ones that were.

/**
 * The tags with which `needs` (src/testing/needs.ts) explains why a test cannot run. `missing`: this machine lacks
 * something; `refused`: bubblewrap is installed, but the kernel does not let it create a sandbox.
 */
export const SKIP_TAGS = { missing: 'missing', refused: 'refused' };

/**
 * CI runs on a machine that has everything that tests need, except perhaps the namespaces of a sandbox, so only `refused`
 * tests may be skipped there. No test may be skipped without a tag.
 */
export const maySkip = (tags, { isCi }) =>
  tags.includes(SKIP_TAGS.refused) || (!isCi && tags.includes(SKIP_TAGS.missing));

/** One line per reason: `12 unit tests skipped: bubblewrap is not installed (apt-get install bubblewrap)`. */
export const toSkipLines = ({ name, skips }) =>
  [...Map.groupBy(skips, ({ reason }) => reason)].map(
    ([reason, { length }]) => `${length} ${name} ${length === 1 ? 'test' : 'tests'} skipped: ${reason}`,
  );
