/** The question about instruction files of folders that are not trusted. */
export const ASK_INSTRUCTIONS = 'May the agent follow these instructions?';

/** What a person should know before the answer. */
export const UNTRUSTED_INSTRUCTIONS =
  'They come from a folder that is not trusted. The answer counts for this conversation; agents.trusted in config.json trusts a folder everywhere.';
