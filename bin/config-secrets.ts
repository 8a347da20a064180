import JSON5 from 'json5';

/** Keys whose values nobody is shown. */
const SECRET_KEY = /^(apiKey|secret)$/;
const MASK = /^<secret:([^<>]*)>$/;
/** Comments and string literals of JSON5, in the order in which they stand. */
const TOKENS = /\/\/[^\n\r]*|\/\*[\s\S]*?\*\/|"(?:\\[\s\S]|[^"\\])*"|'(?:\\[\s\S]|[^'\\])*'/g;
/** A secret in a text that cannot be parsed: the literal behind such a key. */
const UNPARSED_SECRET =
  /((?:"|')?(?:apiKey|secret)(?:"|')?\s*:\s*)("(?:\\[\s\S]|[^"\\\n])*"?|'(?:\\[\s\S]|[^'\\\n])*'?)/g;

const maskOf = (path: string): string => `<secret:${path}>`;

/** The text with a mask that names its place instead of each secret; `parsed` is what it says, undefined when it says nothing. */
export function maskText(text: string, parsed: unknown): string {
  if (parsed === undefined) return text.replace(UNPARSED_SECRET, (_all, key: string) => `${key}"${maskOf('')}"`);
  const masks = new Map([...secretsOf(parsed)].map(([path, secret]) => [secret, maskOf(path)]));
  return text.replace(TOKENS, (token) => {
    if (!isLiteral(token)) return withoutSecrets(token, masks);
    const mask = masks.get(textOf(token));
    return mask === undefined ? token : JSON.stringify(mask);
  });
}

/** The value with masks instead of secrets. */
export function maskValue(value: unknown, path = ''): unknown {
  if (Array.isArray(value)) return value.map((item, index) => maskValue(item, `${path}.${index}`));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const place = path === '' ? key : `${path}.${key}`;
      return [key, isSecret(key, inner) ? maskOf(place) : maskValue(inner, place)];
    }),
  );
}

/** Puts the secrets of `current` back where a text has their masks. Throws, naming the mask, when it has no such secret. */
export function unmaskText(text: string, current: unknown): string {
  const secrets = new Map(secretsOf(current));
  return text.replace(TOKENS, (token) => {
    const path = isLiteral(token) ? MASK.exec(textOf(token))?.[1] : undefined;
    if (path === undefined) return token;
    const secret = secrets.get(path);
    if (secret === undefined)
      throw new Error(`${maskOf(path)} stands for no secret of the file; write the secret itself`);
    return JSON.stringify(secret);
  });
}

const isLiteral = (token: string): boolean => token.startsWith('"') || token.startsWith("'");

function textOf(literal: string): string {
  try {
    return String(JSON5.parse(literal));
  } catch {
    return literal; // a literal that is none cannot be a secret's
  }
}

function withoutSecrets(comment: string, masks: ReadonlyMap<string, string>): string {
  let text = comment;
  for (const [secret, mask] of masks) text = text.replaceAll(secret, mask);
  return text;
}

const isSecret = (key: string, value: unknown): value is string =>
  SECRET_KEY.test(key) && typeof value === 'string' && value !== '';

function* secretsOf(value: unknown, path = ''): Generator<[path: string, secret: string]> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    const place = path === '' ? key : `${path}.${key}`;
    if (isSecret(key, inner)) yield [place, inner];
    else yield* secretsOf(inner, place);
  }
}
