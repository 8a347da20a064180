import { createHash } from 'node:crypto';

/** What stands in an output in place of a marker. */
export interface Made {
  text: string;
  /** The parts of it that nobody may read; empty for what is public. */
  secrets: string[];
}

const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const UPPER = LOWER.toUpperCase();
const DIGITS = '0123456789';

/** Classes of characters in the patterns below: `{36w}` stands for 36 of them. */
const CLASSES: Record<string, string> = {
  w: UPPER + LOWER + DIGITS,
  a: LOWER + DIGITS,
  u: UPPER + DIGITS,
  l: LOWER,
  d: DIGITS,
  h: `${DIGITS}abcdef`,
  b: `${UPPER + LOWER + DIGITS}+/`,
  s: `${UPPER + LOWER + DIGITS}_-`,
  // Base32, as ids of AWS are written.
  t: `${UPPER}234567`,
  p: `${UPPER + LOWER + DIGITS + DIGITS}!#%^*_-+=?`,
  y: `${UPPER + LOWER + DIGITS}!@#$^&*(-_=+)`,
};

/**
 * Credentials as their makers document them, without a real one. They are put together when they are used, so that nothing
 * in the repository looks like a leaked credential to those who search repositories for them.
 */
const PATTERNS: Record<string, string> = {
  'aws-id': 'AKIA{16t}',
  'aws-temporary-id': 'ASIA{16t}',
  'aws-secret': '{40b}',
  'aws-session': 'IQoJb3JpZ2luX2Vj{320b}==',
  'google-key': 'AIza{35s}',
  'google-access': 'ya29.a0{180s}',
  'google-secret': 'GOCSPX-{28s}',
  'google-refresh': '1//0{100s}',
  'fcm-id': '{7w}',
  fcm: '{134s}',
  'azure-storage': '{86b}==',
  'azure-bus': '{43b}=',
  'azure-client': '{3w}8Q~{34s}',
  'aliyun-id': 'LTAI{20w}',
  'aliyun-secret': '{30w}',
  digitalocean: 'dop_v1_{64h}',
  cloudflare: '{40s}',
  github: 'ghp_{36w}',
  'github-oauth': 'gho_{36w}',
  'github-app': 'ghs_{36w}',
  'github-fine': 'github_pat_{22w}_{59w}',
  gitlab: 'glpat-{20s}',
  npm: 'npm_{36w}',
  pypi: 'pypi-AgEIcHlwaS5vcmc{150s}',
  crates: 'cio{32w}',
  rubygems: 'rubygems_{48h}',
  'openai-old': 'sk-{20w}T3BlbkFJ{20w}',
  openai: 'sk-proj-{74s}T3BlbkFJ{74s}',
  anthropic: 'sk-ant-api03-{93s}AA',
  groq: 'gsk_{52w}',
  huggingface: 'hf_{34w}',
  replicate: 'r8_{37w}',
  'slack-bot': 'xoxb-{12d}-{13d}-{24w}',
  'slack-app': 'xapp-1-A{10u}-{13d}-{64h}',
  'slack-hook': 'T{10u}/B{10u}/{24w}',
  'discord-hook': '{68s}',
  // The ids of bots are public.
  'discord-id': 'MTA{21w}',
  discord: 'G{5w}.{38s}',
  'telegram-id': '{10d}',
  telegram: 'AA{33s}',
  stripe: 'sk_live_{24w}',
  'stripe-restricted': 'rk_live_{99w}',
  'stripe-hook': 'whsec_{32w}',
  sendgrid: 'SG.{22s}.{43s}',
  mailgun: 'key-{32h}',
  'twilio-sid': 'AC{32h}',
  vault: 'hvs.CAES{90s}',
  tailscale: 'tskey-auth-k{12w}CNTRL-{32w}',
  grafana: 'glsa_{32w}_{8h}',
  shopify: 'shpat_{32h}',
  dockerhub: 'dckr_pat_{27s}',
  linear: 'lin_api_{40w}',
  figma: 'figd_{40s}',
  postman: 'PMAK-{24h}-{34h}',
  databricks: 'dapi{32h}',
  notion: 'ntn_{46w}',
  'newrelic-license': '{36h}NRAL',
  newrelic: 'NRAK-{27u}',
  supabase: 'sbp_{40h}',
  netlify: 'nfp_{40w}',
  terraform: '{14w}.atlasv1.{67w}',
  doppler: 'dp.pt.{43w}',
  airtable: 'pat{14w}.{64h}',
  atlassian: 'ATATT3xFfGF0{170s}={8u}',
  square: 'EAAA{60s}',
  buildkite: 'bkua_{40h}',
  ngrok: '2{26w}_{21w}',
  sentry: 'sntrys_{120w}',
  mapbox: 'sk.eyJ{80w}.{22s}',
  wireguard: '{42b}8=',
  age: 'AGE-SECRET-KEY-1{58u}',
  'jwk-d': '{43s}',
  hex32: '{32h}',
  hex40: '{40h}',
  hex48: '{48h}',
  hex64: '{64h}',
  hex128: '{128h}',
  'base64-32': '{43b}=',
  'base64-48': '{64b}',
  'base64-96': '{128b}',
  'bytes-48': '{48b}',
  'bytes-240': '{240b}',
  alnum20: '{20w}',
  alnum24: '{24w}',
  alnum32: '{32w}',
  alnum40: '{40w}',
  salt: '{64y}',
  django: '{50y}',
  uuid: '{8h}-{4h}-4{3h}-a{3h}-{12h}',
  password: '{3w}{10p}{1d}',
  'password-plain': '{1l}{11w}{1d}',
  'password-url': '{4w}%40{6w}{1d}',
  'es-password': '{18w}*+',
  'weak-password': 'sunshine{3d}',
  'plain-password': 'tr{6l}ster',
  // `%` stands for a dollar sign.
  shadow: '$6%{16w}%{86w}',
  'apache-hash': '$apr1%{8w}%{22w}',
  bcrypt: '$2b$12%{53w}',
  userpass: 'ci:{14w}',
  'env-file': 'API_SECRET={32w}\nDB_PASSWORD={14w}\n',
};

/** Endless bytes that depend on the seed alone. */
function* randomBytes(seed: string): Generator<number> {
  for (let round = 0; ; round += 1) yield* createHash('sha256').update(`${seed}/${round}`).digest();
}

/** A credential that looks random and is the same at each call. */
function fill(pattern: string, seed: string): string {
  const bytes = randomBytes(seed);
  const one = (chars: string) => chars[(bytes.next().value ?? 0) % chars.length] ?? '';
  return pattern
    .replaceAll('%', '$$')
    .replace(/\{(\d+)([a-z])\}/g, (_, count: string, name: string) =>
      Array.from({ length: Number(count) }, () => one(CLASSES[name] ?? '')).join(''),
    );
}

/** Kinds of PEM texts: their label, the characters of their body, and how these begin. */
const PEMS: Record<string, { label: string; length: number; begins: string; head?: string }> = {
  'pem-rsa': { label: 'RSA PRIVATE KEY', length: 1_590, begins: 'MIIEpAIBAAKCAQEA' },
  'pem-pkcs8': { label: 'PRIVATE KEY', length: 1_624, begins: 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj' },
  'pem-pkcs8-short': { label: 'PRIVATE KEY', length: 184, begins: 'MIGHAgEAMBMGByqGSM49AgEG' },
  'pem-ec': { label: 'EC PRIVATE KEY', length: 164, begins: 'MHcCAQEEI' },
  'pem-openssh': { label: 'OPENSSH PRIVATE KEY', length: 350, begins: 'b3BlbnNzaC1rZXktdjEAAAAABG5vbmU' },
  'pem-encrypted': { label: 'ENCRYPTED PRIVATE KEY', length: 1_700, begins: 'MIIFHDBOBgkqhkiG9w0BBQ0' },
  'pem-pgp': { label: 'PGP PRIVATE KEY BLOCK', length: 900, begins: 'lIYEZ', head: '\n' },
  'pem-certificate': { label: 'CERTIFICATE', length: 900, begins: 'MIIDdzCCAl+gAwIBAgI' },
};

function toPem({ label, length, begins, head = '' }: (typeof PEMS)[string], seed: string): Made {
  const body = begins + fill(`{${length - begins.length}b}`, seed);
  const lines = body.match(/.{1,64}/g) ?? [];
  return { text: [`-----BEGIN ${label}-----${head}`, ...lines, `-----END ${label}-----`].join('\n'), secrets: lines };
}

const hexOf = (text: string): string => Buffer.from(text).toString('hex');
const piecesOf = (text: string, size: number): string[] => text.match(new RegExp(`.{1,${size}}`, 'gs')) ?? [];

/** How an output shows a credential: the text, and the parts that must be gone. */
const SHOWN: Record<string, (made: Made, seed: string) => Made> = {
  public: ({ text }) => ({ text, secrets: [] }),
  base64: ({ text }) => {
    const encoded = Buffer.from(text).toString('base64');
    // The first and last line of a key are the same for all.
    return { text: encoded, secrets: [text.startsWith('-----') ? encoded.slice(64, -64) : encoded] };
  },
  base64public: ({ text }) => ({ text: Buffer.from(text).toString('base64'), secrets: [] }),
  base64wrap60: ({ text }) => pieces(piecesOf(Buffer.from(text).toString('base64'), 60), '\n'),
  json: ({ text, secrets }) => ({ text: text.replaceAll('\n', '\\n'), secrets }),
  indent: ({ text, secrets }) => ({ text: text.replaceAll('\n', '\n    '), secrets }),
  quote: ({ text, secrets }) => ({ text: text.replaceAll('\n', '\n> '), secrets }),
  added: ({ text, secrets }) => ({ text: text.replaceAll('\n', '\n+'), secrets }),
  wrap20: ({ text }) => pieces(piecesOf(text, 20), '\n'),
  wrap40: ({ text }) => pieces(piecesOf(text, 40), '\n'),
  softwrap: ({ text }) => pieces(piecesOf(text, 30), '=\n'),
  colour: ({ text }) => {
    const [first = '', ...rest] = piecesOf(text, 4);
    return { text: `\u001b[01;31m\u001b[K${first}\u001b[m\u001b[K${rest.join('')}`, secrets: [text.slice(4)] };
  },
  zerowidth: ({ text }) => pieces(piecesOf(text, 12), '\u200b'),
  concat: ({ text }) => pieces(piecesOf(text, 16), '" + "'),
  hexdump: ({ text }) => ({
    text: piecesOf(text, 16)
      .map(
        (piece, index) =>
          `${(index * 16).toString(16).padStart(8, '0')}: ${(hexOf(piece).match(/.{1,4}/g) ?? []).join(' ').padEnd(40)} ${piece}`,
      )
      .join('\n'),
    secrets: piecesOf(text, 16).filter(({ length }) => length >= 8),
  }),
  percent: ({ text }) => same(encodeURIComponent(text)),
};

const same = (text: string): Made => ({ text, secrets: [text] });
const pieces = (parts: readonly string[], between: string): Made => ({
  text: parts.join(between),
  secrets: parts.filter(({ length }) => length >= 8),
});

/** What a marker such as `github` or `github>colour` stands for. */
export function makeSecret(marker: string, seed: string): Made {
  const [name = '', shown] = marker.split('>');
  const made = makePlain(name, seed);
  if (shown === undefined) return made;
  const show = SHOWN[shown];
  if (show === undefined) throw new Error(`Unknown way to show a secret: ${shown}`);
  return show(made, seed);
}

function makePlain(name: string, seed: string): Made {
  const pem = PEMS[name];
  if (pem) return toPem(pem, seed);
  if (name === 'jwt') return makeJwt(seed);
  if (name === 'colon-hex') return same((fill('{64h}', seed).match(/../g) ?? []).join(':'));
  if (name === 'esc') return { text: '\u001b', secrets: [] };
  if (/^u[0-9a-f]+$/.test(name)) return { text: String.fromCodePoint(Number.parseInt(name.slice(1), 16)), secrets: [] };
  const pattern = PATTERNS[name];
  if (pattern === undefined) throw new Error(`Unknown marker: ${name}`);
  const text = fill(pattern, seed);
  // The beginning is the same for all, and part of other names, too.
  return { text, secrets: [text.slice(pattern.indexOf('{'))] };
}

function makeJwt(seed: string): Made {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const payload = encode({ sub: fill('{8d}', `${seed}s`), iat: 1_771_234_567, exp: 1_771_238_167 });
  return same(`${encode({ alg: 'HS256', typ: 'JWT' })}.${payload}.${fill('{43s}', seed)}`);
}
