/** The message of a caught value, whatever its type. */
export const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
