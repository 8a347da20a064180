/** What the name of a value says about it. */
export type NameKind =
  | 'password'
  /** A key of an interface, or a secret key. */
  | 'key'
  | 'secret'
  /** May be the name of anything, such as the key of a map: only a value that looks random is a secret. */
  | 'vague';

/** Words within names of secrets; `pass` stands for `password` and others, too. */
export const SECRET_WORDS = ['secret', 'token', 'pwd', 'psk', 'credential', 'apikey', 'key', 'pass', 'auth'];

/** Splits names as they are written: `API_KEY`, `apiKey`, `api-key`, `api.key`. */
const toParts = (name: string): string[] =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .split(/[^A-Za-z0-9]+/)
    .filter((part) => part !== '')
    .map((part) => part.toLowerCase());

const PASSWORDS = new Set(['password', 'passwd', 'passphrase', 'passcode', 'pwd', 'pass', 'pw', 'psk']);
const SECRETS = new Set(['secret', 'token', 'credential', 'credentials', 'secrets']);
/** What a key is for, if it is a secret one. */
const KEY_USES = new Set(
  'api access secret private encryption encrypt decryption signing sign master auth ssh app session cookie jwt license account storage service server client admin deploy webhook shared hmac aes rsa openai anthropic aws azure gcp google github stripe sendgrid datadog'.split(
    ' ',
  ),
);
/** Values that belong to a secret, but are none: `TOKEN_TTL`, `KEY_ID`, `password_file`. */
const ABOUT = new Set(
  'id ids path paths file files dir url uri name names type types length len size count ttl expiry expires expiration timeout env var hash algorithm alg header prefix suffix arn ref format version min max limit required enabled disabled field label placeholder hint policy regex pattern endpoint store provider manager bucket tokens keys usage price cost per index map code codes error message status valid invalid at in for of created updated last used rotation strength time result reset changed confirm'.split(
    ' ',
  ),
);
const PUBLIC = new Set(['public', 'pub', 'publishable']);
/** Just before the word, in names of switches, messages and questions. */
const NO_PASSWORD_BEFORE = new Set(
  'is has no show hide forgot reset missing invalid valid use min max num total'.split(' '),
);
const HARMLESS_BEFORE = new Set(
  'max min num total prompt completion input output cached cache primary foreign sort partition row page next prev previous continuation cursor sync no is has show hide forgot reset missing invalid valid use per idempotency object s3 i18n translation react list map item dict hash search route query event group resource registry host known idx'.split(
    ' ',
  ),
);

/** Undefined for a name that does not belong to a secret. */
export function kindOfName(name: string): NameKind | undefined {
  const parts = toParts(name);
  const at = parts.findLastIndex((part) => isPassword(part) || isSecret(part) || isKey(part));
  const part = parts[at];
  if (part === undefined) return undefined;
  if (parts.slice(at + 1).some((later) => ABOUT.has(later))) return undefined;
  const before = parts[at - 1] ?? '';
  if (isPassword(part)) return NO_PASSWORD_BEFORE.has(before) ? undefined : 'password';
  if (parts.slice(0, at).some((earlier) => PUBLIC.has(earlier)) || HARMLESS_BEFORE.has(before)) return undefined;
  if (isSecret(part)) return 'secret';
  if (part !== 'key' && part !== 'auth') return 'key';
  return parts.slice(0, at).some((earlier) => KEY_USES.has(earlier)) ? 'key' : 'vague';
}

/** Also at the end of words that are written together: `mysqlpassword`, `authtoken`, `secretkey`. */
const isPassword = (part: string): boolean => PASSWORDS.has(part) || /(?:password|passwd|passphrase)$/.test(part);
const isSecret = (part: string): boolean =>
  SECRETS.has(part) || /(?:auth|access|api|client|csrf|bot)(?:secret|token)$/.test(part);
const isKey = (part: string): boolean =>
  part === 'key' || part === 'auth' || /^(?:api|access|secret|private|auth|encryption)key$/.test(part);
