import type { OutputFlag } from './output-assessment.ts';
import { kindOfName } from './secret-names.ts';
import type { SecretRule } from './secret-rule.ts';
import { isFilledIn, isMixed, isRandom, isSecretValue } from './secret-values.ts';
import type { SecretKind } from './tags.ts';

/** A place in a text where a secret stands, whatever it looks like. */
interface Place {
  /** One of these begins every match of the pattern. The case of letters does not count. */
  starts: readonly string[];
  canBegin?(text: string, at: number): boolean;
  /** The value is the last group, at the end of the match; the groups before it are the name. */
  pattern: RegExp;
  kind: SecretKind;
  flag?: OutputFlag;
  /** Whether a complete value is a secret. */
  isSecret(value: string, found: { name: string; next: string }): boolean;
}

const isPassword = (value: string): boolean => value.length >= 4 && !isFilledIn(value);
const hasLength = (least: number) => (value: string) => value.length >= least;

/** A value in an element, an attribute or a variable whose name says that it is a secret. */
function isNamedSecret(value: string, { name, next }: { name: string; next: string }): boolean {
  const kind = kindOfName(name);
  return kind !== undefined && isSecretValue({ kind, value, isQuoted: true, isVariable: false, next });
}

/** The second part of a token of Discord is a time, or begins with G. */
const DISCORD = [...'cdgxyza'].flatMap((first) =>
  [...'abcdefghijklmnopqrstuvwxyz0123456789_-'].map((second) => `.${first}${second}`),
);

const PLACES: readonly Place[] = [
  // Numbers of a private key, as `openssl pkey -text` prints them.
  {
    starts: ['priv', 'prime', 'exponent', 'coefficient'],
    pattern:
      /\b(?:priv|privateExponent|prime[12]|exponent[12]|coefficient):\s{1,24}([0-9a-f]{1,2}(?::\s{0,24}[0-9a-f]{0,2})*)/y,
    kind: 'private_key',
    flag: 'private_key_leak',
    isSecret: hasLength(47),
  },
  // The secret key behind its id, as AWS prints both in a line.
  {
    starts: ['AKIA', 'ASIA'],
    pattern: /\b(?:AKIA|ASIA)[A-Z0-9]{16}[\t ,|"']{1,8}(?:[\w:.+-]{1,32}[\t ,|"']{1,8}){0,2}([A-Za-z0-9+/]*)/y,
    kind: 'api_key',
    isSecret: (value) => value.length === 40 && isRandom(value),
  },
  // A JSON web key.
  {
    starts: ['"d"', '"p"', '"q"', '"dp"', '"dq"', '"qi"'],
    pattern: /"(?:d|p|q|dp|dq|qi)"\s{0,4}:\s{0,4}"([\w-]*)/y,
    kind: 'private_key',
    flag: 'private_key_leak',
    isSecret: (value, { next }) => value.length >= 40 && next === '"' && isRandom(value),
  },
  // .pgpass: host, port, database, user.
  {
    starts: [':5432:', ':5433:', ':6432:', ':6543:', ':*:'],
    pattern: /(?<=(?<![^\n])[\w.*-]{1,128}):(?:5432|5433|6432|6543|\*):[\w.*-]{1,64}:[\w.*-]{1,64}:([^\s:]*)/y,
    kind: 'password',
    isSecret: (value, { next }) => isPassword(value) && /^\s?$/.test(next),
  },
  {
    starts: ['pass', 'secret', 'token', 'api'],
    pattern: /(?<=<([\w.:-]{0,32}))((?:pass|secret|token|api_?key)[\w.:-]{0,32})(?:\s[^<>]{0,120})?>([^<>\s]*)/iy,
    kind: 'password',
    isSecret: (value, found) => found.next === '<' && isNamedSecret(value, found),
  },
  // A pair of a name and a value, in JSON, YAML, XML and lists of variables.
  {
    starts: ['key', 'name'],
    pattern:
      /\b(?:key|name)["']?\s{0,4}[:=]\s{0,4}["']?([\w.-]{2,64})["']?,?\s{1,40}["']?value["']?\s{0,4}[:=]\s{0,4}["']?([^\s"'<>,}]*)/iy,
    kind: 'secret',
    isSecret: isNamedSecret,
  },
  {
    starts: ['key"', 'name"'],
    pattern: /\b(?:key|name)"\s{0,4}:\s{0,4}"([\w.-]{2,64})",\s{0,40}"value"\s{0,4}:\s{0,4}"([^\s"]*)/iy,
    kind: 'secret',
    isSecret: isNamedSecret,
  },
  // An output of Terraform, and what it makes up.
  {
    starts: ['"value"'],
    pattern: /(?<="(\w{2,64})"\s{0,4}:\s{0,4}\{[^{}]{0,120})"value"\s{0,4}:\s{0,4}"([^\s"]*)/y,
    kind: 'secret',
    isSecret: isNamedSecret,
  },
  {
    starts: ['"random_password"'],
    pattern: /"random_password"[^}]{0,200}\bresult\s{1,24}=\s{1,4}"([^"\n]*)/y,
    kind: 'password',
    isSecret: isPassword,
  },
  // PHP.
  {
    starts: ['define('],
    pattern: /\bdefine\(\s{0,4}["'](\w{2,64})["'],\s{0,4}["']([^"'\n]*)/y,
    kind: 'secret',
    isSecret: isNamedSecret,
  },
  // A line of a Dockerfile, or of Apache.
  {
    starts: ['ENV', 'SetEnv', 'setx'],
    pattern: /(?<=(?<![^\n])[ \t]{0,8})(?:ENV|SetEnv|setx)[ \t]{1,4}(\w{2,64})[ \t]{1,4}["']?([^\s"']*)/y,
    kind: 'secret',
    flag: 'env_file_leak',
    isSecret: isNamedSecret,
  },
  // Addresses that let everybody post who knows them.
  {
    starts: ['hooks.slack.com/'],
    pattern: /\bhooks\.slack\.com\/(?:services|workflows|triggers)\/([\w/-]*)/y,
    kind: 'secret',
    isSecret: hasLength(20),
  },
  {
    starts: ['discord'],
    pattern: /\bdiscord(?:app)?\.com\/api\/webhooks\/\d{15,21}\/([\w-]*)/y,
    kind: 'secret',
    isSecret: hasLength(50),
  },
  {
    starts: ['webhook.office.com/'],
    pattern: /\bwebhook\.office\.com\/webhookb2\/([\w@/-]*)/y,
    kind: 'secret',
    isSecret: hasLength(40),
  },
  // Bots of Telegram and Discord; their ids are public.
  {
    starts: [':AA'],
    pattern: /(?<=(?<!\w)\d{8,10}):(AA[\w-]*)/y,
    kind: 'api_key',
    isSecret: (value) => /^AA[\w-]{33}/.test(value),
  },
  {
    starts: DISCORD,
    canBegin: (text, at) => at + 7 >= text.length || text[at + 7] === '.',
    pattern: /(?<=(?<![\w-])[MNO][A-Za-z\d]{22,27})\.([\w-]{0,7}(?:\.[\w-]*)?)/y,
    kind: 'api_key',
    isSecret: (value) => /^[\w-]{6}\.[\w-]{27,}$/.test(value),
  },
  {
    starts: ['connect.sid', 'PHPSESSID', 'JSESSIONID', 'sessionid', 'laravel_session', 'ASP.NET_SessionId'],
    pattern: /\b(?:connect\.sid|PHPSESSID|JSESSIONID|sessionid|laravel_session|ASP\.NET_SessionId)=([^;\s"'&,]*)/y,
    kind: 'secret',
    isSecret: (value) => value.length >= 16 && isMixed(value),
  },
  // Passwords among the arguments of programs.
  {
    starts: ['mysql'],
    pattern: /\bmysql\w{0,8}\b[^\n|;&]{0,120}?\s-p([^\s"'|;&]*)/y,
    kind: 'password',
    isSecret: isPassword,
  },
  { starts: ['sshpass'], pattern: /\bsshpass\s{1,4}-p\s{0,4}["']?([^\s"']*)/y, kind: 'password', isSecret: isPassword },
  {
    starts: ['-u ', '-u=', '--user', '--proxy-user'],
    pattern: /(?<=\s)(?:-u|--user|--proxy-user)[\s=]{1,4}["']?[\w.@+-]{1,64}:([^\s"'@:]*)/y,
    kind: 'password',
    isSecret: (value) => isPassword(value) && /\d/.test(value) && value.length >= 6,
  },
  {
    starts: ['requirepass', 'masterauth'],
    pattern: /(?<![\w])(?:requirepass|masterauth)[ \t]{1,4}["']?([^\s"']*)/y,
    kind: 'password',
    isSecret: isPassword,
  },
  // Sentences, and lines that announce a password.
  {
    starts: ['passw', 'passphrase', 'passcode'],
    pattern: /\b(?:password|passphrase|passcode)\s{1,3}(?:is|was|to|\(?currently):?\s{1,3}["'`]?([^\s"'`)]*)/iy,
    kind: 'password',
    isSecret: (value) => value.length >= 6 && /\d/.test(value) && /[a-z]/i.test(value) && isPassword(value),
  },
  {
    starts: ['passw', 'passphrase'],
    pattern: /\bpass(?:word|wd|phrase)[^\n]{0,100}:[ \t]{0,4}\r?\n\s{0,12}(\S*)/iy,
    kind: 'password',
    isSecret: (value) => value.length >= 12 && isMixed(value) && (isRandom(value) || /[*+!#%^$@]/.test(value)),
  },
];

/** Finds secrets that their places give away. */
export const PLACED: readonly SecretRule[] = PLACES.map(
  ({ starts, canBegin, pattern, kind, flag = 'credential_leak', isSecret }) => ({
    starts,
    ...(canBegin && { canBegin }),
    pattern,
    read(text, match) {
      const [whole, ...groups] = match;
      const value = groups.pop() ?? '';
      const end = match.index + whole.length;
      const isOpen = end === text.length;
      const isFound = isOpen || isSecret(value, { name: groups.join(''), next: text[end] ?? '' });
      return isFound ? { start: end - value.length, end, kind, flag, isOpen } : undefined;
    },
  }),
);
