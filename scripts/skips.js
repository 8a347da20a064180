// Which tests may be skipped, and what a run says about the ones that were.

/**
 * The tags by which `needs` (src/testing/needs.ts) says why a test cannot run: what is missing can be installed or granted;
 * what is refused cannot be had on this machine.
 */
export const SKIP_TAGS = { missing: 'missing', refused: 'refused' };

/** CI installs what the tests need, so a test may skip there only what the machine refuses. Nobody skips without a tag. */
export const maySkip = (tags, { isCi }) =>
  tags.includes(SKIP_TAGS.refused) || (!isCi && tags.includes(SKIP_TAGS.missing));

/** One line per reason: `12 unit tests skipped: bubblewrap is not installed (apt-get install bubblewrap)`. */
export const toSkipLines = ({ name, skips }) =>
  [...Map.groupBy(skips, ({ reason }) => reason)].map(
    ([reason, { length }]) => `${length} ${name} ${length === 1 ? 'test' : 'tests'} skipped: ${reason}`,
  );
