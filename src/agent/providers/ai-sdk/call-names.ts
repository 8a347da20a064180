/** What OpenAI accepts; other providers accept more. */
const MAX_CHARS = 64;
const ODD = /[^a-zA-Z0-9_-]/g;

/**
 * The name of a call as all providers accept it. A model may call a tool that does not exist, such as `functions.bash`, and
 * would otherwise be refused every later request.
 */
export const toSentName = (name: string): string => name.slice(0, MAX_CHARS).replaceAll(ODD, '_') || 'unnamed';

/** The name of a call as it is stored. No tool has a longer one; the mark prevents that the rest names a tool. */
export const toStoredName = (name: string): string => (name.length > MAX_CHARS ? `${name.slice(0, MAX_CHARS)}…` : name);
