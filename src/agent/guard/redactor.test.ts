import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KnownSecrets } from './known-secrets.ts';
import { Redactor } from './redactor.ts';
import { VisibleOutput } from './visible-output.ts';

const KNOWN = 'daemon-secret-0001';
const TOKEN = `ghp_${'aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zA1bC3'}`;
const KEY_LINES = Array.from(
  { length: 20 },
  (_, line) => `MIIEowIBAAKCAQEA${String(line).padStart(2, '0')}${'x'.repeat(46)}`,
);
const PRIVATE_KEY = ['-----BEGIN RSA PRIVATE KEY-----', ...KEY_LINES, '-----END RSA PRIVATE KEY-----'].join('\n');

function through(pieces: readonly string[], hidesAll = true): string[] {
  const visible = new VisibleOutput();
  const redactor = new Redactor({ known: new KnownSecrets([KNOWN]), hidesAll });
  return [
    ...pieces.map((piece) => redactor.write(visible.write(piece))),
    redactor.write(visible.end()) + redactor.end(),
  ];
}

const JWT = `eyJ${'hbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9'}.eyJ${'zdWIiOiIxMjM0NTY3ODkwIn0'}.${'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'}`;

const CASES: Record<string, [text: string, shown: string]> = {
  token: [`x ${TOKEN} y\n`, 'x [REDACTED:api_key] y\n'],
  variable: [`API_KEY=${'zX9'.repeat(10)}\nPATH=/usr/bin\n`, 'API_KEY=[REDACTED:api_key]\nPATH=/usr/bin\n'],
  password: ['{"password": "s3cr3t!x", "key": "value"}\n', '{"password": "[REDACTED:password]", "key": "value"}\n'],
  code: ['password: string;\nconst key = item.key;\n', 'password: string;\nconst key = item.key;\n'],
  'private key': [`before\n${PRIVATE_KEY}\nafter\n`, 'before\n[REDACTED:private_key]\nafter\n'],
  'encrypted key': [
    `before\n${PRIVATE_KEY.replace('KEY-----\n', 'KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A1B2C\n\n')}\nafter\n`,
    'before\n[REDACTED:private_key]\nafter\n',
  ],
  'mention of a key': [
    'It begins with -----BEGIN RSA PRIVATE KEY-----, then\nComment: lines\n',
    'It begins with -----BEGIN RSA PRIVATE KEY-----, then\nComment: lines\n',
  ],
  address: ['postgresql://me:pw1234x@db/x\n', 'postgresql://me:[REDACTED:password]@db/x\n'],
  header: ['Authorization: Bearer abcdefghij0123456789\n', 'Authorization: Bearer [REDACTED:api_key]\n'],
  known: [`a ${KNOWN} b ${encodeURIComponent(KNOWN)}\n`, 'a [REDACTED:secret] b [REDACTED:secret]\n'],
  hexadecimal: [`${Buffer.from(KNOWN).toString('hex')}\n`, '[REDACTED:secret]\n'],
  'web token': [`session\t${JWT}\n`, 'session\t[REDACTED:secret]\n'],
  'broken line': [`${TOKEN.slice(0, 20)}\n${TOKEN.slice(20)}\nend\n`, '[REDACTED:api_key]\nend\n'],
  'no broken line': [`${TOKEN.slice(0, 20)}\nend\n`, `${TOKEN.slice(0, 20)}\nend\n`],
  'base64 of a token': [`value: ${Buffer.from(TOKEN).toString('base64')}\n`, 'value: [REDACTED:api_key]\n'],
  'hidden characters': [`${TOKEN.slice(0, 12)}\u200b${TOKEN.slice(12)} end\n`, '[REDACTED:api_key] end\n'],
  'line of pgpass': ['db:5432:shop:kim:s3cr3t-x\n', 'db:5432:shop:kim:[REDACTED:password]\n'],
  netrc: ['machine x\n  login kim\n  password s3cr3t-x\n', 'machine x\n  login kim\n  password [REDACTED:password]\n'],
  element: ['<password>s3cr3t!x</password>\n', '<password>[REDACTED:password]</password>\n'],
  'name and value': [
    '{"name":"DB_PASSWORD","value":"s3cr3t!x"}\n',
    '{"name":"DB_PASSWORD","value":"[REDACTED:secret]"}\n',
  ],
  'announced password': ['Password of kim:\n  aB3dE6gH9jK2m\n', 'Password of kim:\n  [REDACTED:password]\n'],
  'hash of a password': [`root:$6$${'aB3dE6gH'.repeat(4)}:1:\n`, 'root:[REDACTED:password]:1:\n'],
  example: [
    'OPENAI_API_KEY=sk-your-key-here\nTOKEN=xxxxxxxxxxxx\n',
    'OPENAI_API_KEY=sk-your-key-here\nTOKEN=xxxxxxxxxxxx\n',
  ],
  hash: [`integrity "sha512-${'aB3+'.repeat(20)}=="\n`, `integrity "sha512-${'aB3+'.repeat(20)}=="\n`],
  coloured: [
    `\u001b[01;31m\u001b[Kghp_\u001b[m\u001b[K${TOKEN.slice(4)} end\n`,
    '\u001b[01;31m\u001b[K[REDACTED:api_key] end\n',
  ],
};

for (const [name, [text, shown]] of Object.entries(CASES)) {
  test(`secrets are replaced however the text arrives: ${name}`, () => {
    const halves = [text.slice(0, text.length >> 1), text.slice(text.length >> 1)];
    assert.deepEqual(
      [through([text]).join(''), through([...text]).join(''), through(halves).join('')],
      [shown, shown, shown],
    );
  });
}

test('a prompt is shown before its line ends, and a split secret is never shown in part', () => {
  assert.deepEqual(through(['Password: ', TOKEN.slice(0, 9), TOKEN.slice(9), '\n']), [
    'Password: ',
    '',
    '',
    '[REDACTED:api_key]\n',
    '',
  ]);
});

test('without redaction, only the secrets of the daemon are hidden', () => {
  assert.equal(through([`${TOKEN} ${KNOWN}\n`], false).join(''), `${TOKEN} [REDACTED:secret]\n`);
});

test('text is held up to 4 KiB only; the rest of a longer secret is dropped', () => {
  const long = `PASSWORD=${'a1B2'.repeat(5_000)} after\n`;
  assert.equal(through(long.match(/.{1,1000}|\n/g) ?? []).join(''), 'PASSWORD=[REDACTED:password] after\n');
});

test('characters that people do not see are written out; colours stay', () => {
  const shown = (text: string) => through([...text]).join('');
  assert.equal(
    shown('\u001b]0;title\u0007a\u202eb\u200bc\u001b[2Jd'),
    '\\u001b]0;title\\u0007a\\u202eb\\u200bc\\u001b[2Jd',
  );
  assert.equal(shown('\u001b[31mred\u001b[0m \u001b[8mhidden\u001b[0m'), '\u001b[31mred\u001b[0m hidden\u001b[0m');
  assert.equal(shown('timeout\u3164'), 'timeout\\u3164');
  assert.equal(shown('👩\u200d💻 می\u200cروم'), '👩\u200d💻 می\u200cروم');
});

test('a character that two pieces share is not written out', () => {
  assert.equal(through(['a\ud83d', '\ude00b']).join(''), 'a😀b');
});
