import type { NameKind } from './secret-names.ts';

/** A value as it stands behind its name. */
export interface NamedValue {
  kind: NameKind;
  value: string;
  isQuoted: boolean;
  /** The line is `NAME=value`, as environment files are written. */
  isVariable: boolean;
  /** What follows it, as far as known. */
  next: string;
}

/** Whether a value is a secret, and no placeholder, code, hash or name. Errs on the side of harmless text without digits. */
export function isSecretValue(it: NamedValue): boolean {
  const { kind, value } = it;
  if (isNoValue(it) || isCode(it)) return false;
  if (kind === 'vague') return isBasic(value) || (isRandom(value) && (isBase64(value) || !isIdentity(value)));
  if (it.isVariable) return isInVariable(kind, value);
  return !/\s/.test(value) && !isPath(value) && LOOKS[kind](value);
}

/** Too short, or stands for a value. */
const isNoValue = ({ kind, value }: NamedValue): boolean =>
  value.length < LEAST[kind] ||
  PLACEHOLDER.test(value) ||
  (kind !== 'password' && /example|placeholder|your[-_]|x{6}/i.test(value));

/** PWD is the working directory. */
const isInVariable = (kind: NameKind, value: string): boolean =>
  kind === 'password' ? !value.startsWith('/') : value.length >= 8 && !isPath(value) && !/^\d+$/.test(value);

/** How secrets of each kind look outside of environment files. */
const LOOKS: Record<Exclude<NameKind, 'vague'>, (value: string) => boolean> = {
  password: (value) => /\d|[^\p{L}\p{N}_\s.-]/u.test(value) && !isCall(value),
  key: (value) => isMixed(value) && value.length >= 12,
  secret: (value) => value.length >= 16 && isRandom(value),
};

const LEAST: Record<NameKind, number> = { password: 4, key: 8, secret: 8, vague: 20 };

/** Stands for a value that somebody has to fill in, or names where it comes from. */
const PLACEHOLDER =
  /^(?=.*$)(?:x{3}|[*•.#-]{3}|<|\$|%|\{|@|your\b|your[-_]|my[-_]|change[-_]?me|example|placeholder|dummy|fake|sample|redacted|\[?redacted|insert|enter|replace|process\.env|os\.environ|import\.meta|env[.:([]|secrets?[.:]|vault:|ref\+|file:|arn:|op:\/\/|https?:\/\/|\(|!)|^(?:none|null|nil|undefined|true|false|yes|no|todo|tbd|secrets?|tokens?|password|passwd|test|string|number|boolean|required|optional|unset|empty|not[-_ ]set)$/i;

/** Unquoted text in a program is an expression, such as `token = getToken()` or `password: user.password`. */
function isCode({ value, isQuoted, isVariable, next }: NamedValue): boolean {
  if (isQuoted) return false;
  if (next === '(' || next === '[' || next === '{') return true;
  return (
    !isVariable && (/^[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+[;,]?$/.test(value) || /^[A-Za-z_$]+[;,]?$/.test(value))
  );
}

/** A password in an example, such as `user:password@host`. */
export const isFilledIn = (value: string): boolean =>
  /^(?:pass(?:word|wd)?|pw|pwd|secret|x{3,}|\*+|\.{3}|<.*|\$.*|%[^0-9a-f].*|\{.*|\[.*|your.*|\d{1,5})$/i.test(value);

const isCall = (value: string): boolean => /\w\(|=>|\|\||&&|[<>]=?$/.test(value);

const isPath = (value: string): boolean =>
  /^(?:~|\.{1,2})?\/[\w.@-]+(?:\/|$)|^[A-Za-z]:\\/.test(value) ||
  /\.(?:pem|key|crt|json|ya?ml|txt|env|ts|js|py|go|rs)$/.test(value);

export const isMixed = (value: string): boolean => /[A-Za-z]/.test(value) && /\d/.test(value);

const isBase64 = (value: string): boolean => /^[A-Za-z0-9+/]{40,}={1,2}$/.test(value) && value.length % 4 === 0;

/** A user and a password in base64, as in headers and settings of registries. */
const isBasic = (value: string): boolean =>
  /^[A-Za-z0-9+/]{8,}={0,2}$/.test(value) &&
  value.length % 4 === 0 &&
  /^[\w.@-]+:[\x21-\x7e]+$/.test(Buffer.from(value, 'base64').toString('latin1'));

/** A hash, a UUID, a number: what things are called, not what opens them. */
const isIdentity = (value: string): boolean =>
  /^(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})$/i.test(value) ||
  /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value) ||
  /^[a-z][\w.-]*[-_.](?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})$/.test(value) ||
  /^(?:sha\d+|md5)[-:]/i.test(value) ||
  /[/.:]/.test(value) ||
  (/^[a-z]+(?:[-_][a-z0-9]+)*$/i.test(value) && (value.match(/\d/g)?.length ?? 0) < 4);

/** Text has fewer different characters than random letters and digits, and rarely changes between them. */
export function isRandom(value: string): boolean {
  if (!isMixed(value)) return false;
  const changes = value.match(/[a-z](?=[A-Z0-9])|[A-Z](?=[a-z0-9])|\d(?=[A-Za-z])/g)?.length ?? 0;
  return changes * 6 >= value.length && bitsPerCharacter(value) >= 3;
}

function bitsPerCharacter(value: string): number {
  const counts = new Map<string, number>();
  for (const char of value) counts.set(char, (counts.get(char) ?? 0) + 1);
  return [...counts.values()].reduce(
    (bits, count) => bits - (count / value.length) * Math.log2(count / value.length),
    0,
  );
}
