import assert from 'node:assert/strict';
import { test } from 'node:test';
import JSON5 from 'json5';
import { maskText, maskValue, unmaskText } from './config-secrets.ts';
import { createGuardedSecrets } from './guarded-secrets.ts';

const TEXT = `// the old key was sk-fast-1
{
  models: {
    fast: { provider: 'openai', apiKey: 'sk-fast-1', }, /* sk-fast-1 too */
    "big": { "provider": "openai", "apiKey": "sk-\\u0062ig" },
  },
  channels: { webhook: { ops: { url: 'https://x.example//y', secret: "don't tell" } } },
  workdir: '/srv/sk-fast',
}`;
const PARSED = JSON5.parse(TEXT);

test('secrets are masked in place, even in comments, and everything else stays unchanged', () => {
  const masked = maskText(TEXT);
  assert.doesNotMatch(masked, /sk-fast-1|big"\s*}|tell/);
  assert.deepEqual(JSON5.parse(masked), maskValue(PARSED));
  assert.equal(
    masked.replaceAll(/"?<secret:[^>]*>"?/g, 'S'),
    TEXT.replaceAll("'sk-fast-1'", 'S')
      .replaceAll('sk-fast-1', 'S')
      .replace('"sk-\\u0062ig"', 'S')
      .replace('"don\'t tell"', 'S'),
  );
});

test('a masked text written back restores the secrets', () => {
  assert.deepEqual(JSON5.parse(unmaskText(maskText(TEXT), PARSED)), PARSED);
});

test('a mask may move with its text, and an unknown mask is refused by name', () => {
  const moved = `{ models: { other: { provider: 'openai', apiKey: '<secret:models.fast.apiKey>' } } }`;
  assert.equal(JSON5.parse(unmaskText(moved, PARSED)).models.other.apiKey, 'sk-fast-1');
  const other = '{ botToken: "<secret:models.fast.apiKey>" } // <secret:models.fast.apiKey>';
  assert.equal(unmaskText(other, PARSED), '{ botToken: "sk-fast-1" } // <secret:models.fast.apiKey>');
  assert.throws(
    () => unmaskText('{ a: "<secret:models.gone.apiKey>" }', PARSED),
    /<secret:models\.gone\.apiKey> does not match a secret/,
  );
});

test('a command with something like a secret is masked, and comes back in its place', () => {
  const config = {
    hooks: [
      { at: 'run_end', command: 'notify --token hunter2hunter2 done' },
      { at: 'run_end', command: 'curl -H "Authorization: Bearer abcdef0123456789abcdef" https://x.example' },
      { at: 'run_end', command: 'make report token=$(cat key) --secret $KEY -H "Authorization: Bearer $KEY"' },
    ],
    tools: { diagnostics: [{ files: '*.ts', command: 'check --api-key=abcdef123456 "$@"' }] },
    channels: { transcribe: { command: ['whisper', '--api-key=abcdef123456', '--language=de'] } },
  };
  const text = JSON.stringify(config);
  const masked = JSON.parse(maskText(text));
  assert.deepEqual(maskValue(config), masked);
  assert.deepEqual(
    [masked.hooks, masked.tools.diagnostics].map((all) => all.map(({ command }: { command: string }) => command)),
    [
      ['<secret:hooks.0.command>', '<secret:hooks.1.command>', config.hooks[2]?.command],
      ['<secret:tools.diagnostics.0.command>'],
    ],
  );
  assert.deepEqual(masked.channels.transcribe.command, [
    'whisper',
    '<secret:channels.transcribe.command.1>',
    '--language=de',
  ]);
  assert.deepEqual(JSON5.parse(unmaskText(maskText(text), config)), config);
});

test('the word after the name of a secret is masked in lists of words, too, and hidden in output', () => {
  const config = {
    mcp: { servers: { notes: { args: ['-y', 'notes-mcp', '--api-key', 'hunter2-hunter2', '--fast'] } } },
    channels: { transcribe: { command: ['whisper', '--api-key', 'hunter3 hunter3', '--language', 'de'] } },
  };
  const masked = JSON5.parse(maskText(JSON.stringify(config)));
  assert.deepEqual(maskValue(config), masked);
  assert.deepEqual(
    [masked.mcp.servers.notes.args, masked.channels.transcribe.command],
    [
      ['-y', 'notes-mcp', '--api-key', '<secret:mcp.servers.notes.args.3>', '--fast'],
      ['whisper', '--api-key', '<secret:channels.transcribe.command.2>', '--language', 'de'],
    ],
  );
  assert.deepEqual(JSON5.parse(unmaskText(maskText(JSON.stringify(config)), config)), config);
  const known = createGuardedSecrets({ config, environment: {} }).current();
  const found = ['hunter2-hunter2', 'hunter3 hunter3', 'notes-mcp', 'whisper'].map(
    (text) => known.find(text, 0).length,
  );
  assert.deepEqual(found, [1, 1, 0, 0]);
  assert.doesNotMatch(maskText(JSON.stringify(config).slice(0, -1)), /hunter/);
});

test('a masked word of a list is restored only after the name of a secret', () => {
  const config = { mcp: { servers: { notes: { args: ['--api-key', 'hunter2-hunter2'] } } } };
  const [, mask] = JSON5.parse(maskText(JSON.stringify(config))).mcp.servers.notes.args;
  const revealing = { mcp: { servers: { notes: { args: ['--name', mask] } } } };
  assert.throws(() => unmaskText(JSON.stringify(revealing), config), /would reveal the secret here/);
});

const MASK = '<secret:models.fast.apiKey>';

for (const [where, text, place] of [
  ['after another key', `{ note: "${MASK}" }`, 'note'],
  ['after the key of a variable', `{ models: { fast: { apiKeyEnv: '${MASK}' } } }`, 'models.fast.apiKeyEnv'],
  ['in a list', `{ a: [1, { b: 2 }, '${MASK}'] }`, 'a.2'],
  ['in a list after a secret’s key', `{ a: { secret: ['${MASK}'] } }`, 'a.secret.0'],
  ['as a key', `{ a: { '${MASK}': 1 } }`, 'a'],
  ['as a key of the file', `{ '${MASK}': 1 }`, 'the file'],
  ['after a key that is repeated later', `{ a: { secret: '${MASK}', "s\\u0065cret": 'b' } }`, 'a.secret'],
  ['below a key that is repeated later', `{ a: { b: { secret: '${MASK}' } }, a: {} }`, 'a.b.secret'],
  ['with escapes', `{ a: { secret: 1 }, // "\u2028 not\\u0065: '\\x3csecret:models.fast.apiKey>' }`, 'note'],
  ['as the whole file', `'${MASK}'`, 'the file'],
] as const)
  test(`a mask ${where} is refused by name and place`, () => {
    JSON5.parse(text);
    assert.throws(
      () => unmaskText(text, PARSED),
      ({ message }: Error) => message.startsWith(`${place}: ${MASK} `) && !message.includes('sk-fast-1'),
    );
  });

test('the topics of ntfy are secrets: whoever knows one reads what is sent to it', () => {
  const text = `{ channels: { ntfy: { phone: { url: 'https://ntfy.sh/long-topic', content: 'full' } } } } // long: https://ntfy.sh/long-topic`;
  const masked = maskText(text);
  assert.doesNotMatch(masked, /long-topic/);
  assert.deepEqual(JSON5.parse(masked), maskValue(JSON5.parse(text)));
  assert.deepEqual(JSON5.parse(unmaskText(masked, JSON5.parse(text))), JSON5.parse(text));
  assert.throws(
    () => unmaskText(`{ egress: { url: '<secret:channels.ntfy.phone.url>' } }`, JSON5.parse(text)),
    /would reveal the secret here/,
  );
  assert.doesNotMatch(maskText(`{ channels: { ntfy: { phone: { url: 'https://ntfy.sh/long-topic' oops`), /long-topic/);
});

test('secrets of an unparseable text are masked, too', () => {
  const masked = maskText(`{ models: { a: { apiKey: 'sk-1', "secret" : "s-2" oops`);
  assert.equal(masked, `{ models: { a: { apiKey: "<secret:>", "secret" : "<secret:>" oops`);
});

for (const [text, masked] of [
  [`{ bearer_token: 'a\\'b`, `{ bearer_token: "<secret:>"`],
  [`{ apiKey: sk-1, n: 1 }`, `{ apiKey: "<secret:>", n: 1 }`],
  [`{ "password" 'a', maxTokens: 5 ]`, `{ "password" "<secret:>", maxTokens: 5 ]`],
  [`secret = a b, token: null`, `secret = "<secret:>", token: null`],
  [`{ note: it's, apiKey: 'sk-1' }`, `{ note: it's, apiKey: "<secret:>" }`],
  [`{ url: 'https://u:p@x.example/' oops`, `{ url: '<secret:>' oops`],
  [`{ apiKeyEnv: 'NAME', url: https://x.example/?page=2`, `{ apiKeyEnv: 'NAME', url: https://x.example/?page=2`],
] as const)
  test(`unparseable: ${text} is shown as ${masked}`, () => {
    assert.equal(maskText(text), masked);
  });

test('values are masked at any depth, but not empty values or values of other keys', () => {
  assert.deepEqual(maskValue({ a: [{ apiKey: 'k' }], secret: '', apiKeyEnv: 'NAME', n: null }), {
    ...{ a: [{ apiKey: '<secret:a.0.apiKey>' }], secret: '', apiKeyEnv: 'NAME', n: null },
  });
});

test('secrets are recognized by many key names; names of variables are not secrets', () => {
  const isMasked = (key: string) => JSON.stringify(maskValue({ [key]: 'canary' })).includes('canary') === false;
  const names = ['apikey', 'api_key', 'API-KEY', 'x-api-key', 'accessToken', 'bearerToken', 'clientSecret', 'secrets'];
  const more = ['password', 'db_passwd', 'passPhrase', 'PASS_PHRASE', 'credentials', 'awsCredential', 'token'];
  assert.deepEqual([...names, ...more].filter(isMasked), [...names, ...more]);
  const others = ['apiKeyEnv', 'secretEnv', 'TOKEN_ENV', 'model', 'workdir', 'key', 'path', 'logLevel'];
  assert.deepEqual(others.filter(isMasked), []);
  assert.deepEqual(maskValue({ maxOutputTokens: 5, token: { a: 'b' } }), { maxOutputTokens: 5, token: { a: 'b' } });
});

test('an address with a password or a key is a secret anywhere', () => {
  const isMasked = (url: string) => Object.values(maskValue({ url }) as object)[0] === '<secret:url>';
  const secret = [
    '?token=a',
    '?a=1&key=b',
    '?sig=c#d',
    '?api_key=e',
    '?X-Amz-Signature=f',
    '?code=g',
    '?access_token=h',
  ];
  const guarded = secret.map((query) => `https://x.example/${query}`);
  const named = ['https://u:p@x.example', 'https://u@x.example', 'redis://:p@x.example:6379', 'http:/u:p@x.example'];
  const unreadable = ['https://u:p@x.example:port', 'https://x.example:port/?token=a'];
  assert.deepEqual([...guarded, ...named, ...unreadable].filter(isMasked), [...guarded, ...named, ...unreadable]);
  const plain = [
    'https://x.example/@a',
    'https://x.example/?page=1&design=2',
    'https://x.example/?token=',
    'a@x.example',
  ];
  assert.deepEqual(plain.filter(isMasked), []);
});

test('a masked address is restored only as the value of its own key, even if the entry is renamed', () => {
  const text = `{ ops: { url: 'https://x.example/?token=canary' }, list: ['https://u:canary@x.example'] }`;
  const masked = `{ ops: { url: "<secret:ops.url>" }, list: ["<secret:list.0>"] }`;
  assert.equal(maskText(text), masked);
  assert.deepEqual(JSON5.parse(unmaskText(masked, JSON5.parse(text))), JSON5.parse(text));
  const renamed = unmaskText(masked.replace('{ ops', '{ alerts'), JSON5.parse(text));
  assert.equal(JSON5.parse(renamed).alerts.url, 'https://x.example/?token=canary');
  assert.throws(() => unmaskText('{ secretEnv: "<secret:ops.url>" }', JSON5.parse(text)), {
    message: /^secretEnv: <secret:ops\.url> /,
  });
});

test('replaced and commented-out secrets are masked, too', () => {
  const text = `{ a: { secret: 'one', "sec\\u0072et": 'two' }, a: { token: 'three' }, /* apiKey: 'four' */ } // was one`;
  assert.equal(
    maskText(`${text}, https://u:five@x.example`),
    '{ a: { secret: "<secret:a.secret>", "sec\\u0072et": "<secret:a.secret>" }, a: { token: "<secret:a.token>" }, ' +
      '/* apiKey: "<secret:>" */ } // was <secret:a.secret>, <secret:>',
  );
});

test('the text of a secret elsewhere in the file is kept, and the file can be written back', () => {
  const text = `{ name: 'none', none: 1, list: ['none'], apiKey: 'none' }`;
  const masked = maskText(text);
  assert.equal(masked, `{ name: 'none', none: 1, list: ['none'], apiKey: "<secret:apiKey>" }`);
  assert.deepEqual(JSON5.parse(unmaskText(masked, JSON5.parse(text))), JSON5.parse(text));
});

test('a secret below a key with the characters of a mask is restored, too', () => {
  const text = `{ "a<b>": { apiKey: "canary" } }`;
  assert.equal(unmaskText(maskText(text), JSON5.parse(text)), text);
});

test('a text with any nesting is masked', () => {
  const text = `${'{a:'.repeat(5_000)}{apiKey: 'canary'}${'}'.repeat(5_000)}`;
  assert.equal(maskText(text), text.replace("'canary'", `"<secret:${'a.'.repeat(5_000)}apiKey>"`));
});
