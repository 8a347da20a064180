/** What a redacted secret was. Its tag stands in the output in place of the secret. */
export type SecretKind = 'api_key' | 'private_key' | 'password' | 'secret';

export const toTag = (kind: SecretKind): string => `[REDACTED:${kind}]`;

const TAG = /\[REDACTED:(?:api_key|private_key|password|secret)\]/;

/** The first redaction tag of a text; undefined without one. */
export const findTag = (text: string): string | undefined => TAG.exec(text)?.[0];
