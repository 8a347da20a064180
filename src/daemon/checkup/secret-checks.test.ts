import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { createAuditHeadFile } from '../../gateway/audit/audit-head.ts';
import { checkSecrets } from './secret-checks.ts';

const KEYS = { jwt_secret: 'ab'.repeat(32), audit_secret: 'cd'.repeat(32) };
const TOKEN = `svc_${'0'.repeat(64)}\n`;
const MACHINE_KEY = `hgk_${'5a'.repeat(32)}\n`;
const HEAD = { firstSeq: 1, before: '', seq: 3, digest: 'd' };

interface HomeOptions {
  token?: string | undefined;
  secrets?: unknown;
  environment?: Record<string, string>;
}

/** A home that was used, with these files; `findings` has what is not fine in it. */
async function makeHome({ environment = {}, ...files }: HomeOptions = {}) {
  const home = await mkdtemp(path.join(tmpdir(), 'headgate-secrets-'));
  const at = (name: string) => path.join(home, name);
  const write = (name: string, text: string) => writeFile(at(name), text, { mode: 0o600 });
  await write('headgate.db', '');
  await write('headgate-key', MACHINE_KEY);
  const { token, secrets } = { token: TOKEN, secrets: KEYS, ...files };
  if (token !== undefined) await write('token', token);
  if (secrets !== undefined)
    await write('secrets.json', typeof secrets === 'string' ? secrets : JSON.stringify(secrets));
  const check = () => checkSecrets({ home, environment });
  return {
    at,
    write,
    check,
    /** Paths are shortened to the names of the files. */
    async findings() {
      const all = (await check()).filter(({ level }) => level !== 'ok');
      return all.map(({ name, level, text, mend = '' }) => [
        name,
        level,
        ...[text, mend].map((each) => each.replaceAll(`${home}/`, '')),
      ]);
    },
    [Symbol.asyncDispose]: () => rm(home, { recursive: true }),
  };
}

const LOSSES = 'all users have to log in again, and older records of the audit trail cannot be verified.';

test('good secrets are fine, and so is a home before its first start', async () => {
  await using home = await makeHome();
  await createAuditHeadFile({ path: home.at('audit-head.json'), secret: KEYS.audit_secret }).write(HEAD);
  const namesAndLevels = (await home.check()).map(({ name, level }) => [name, level]);
  const fine = [
    ['token', 'ok'],
    ['machine key', 'ok'],
    ['login key', 'ok'],
    ['audit key', 'ok'],
  ];
  assert.deepEqual(namesAndLevels, fine);
  const none = await checkSecrets({ home: home.at('no-such-home'), environment: {} });
  assert.deepEqual(
    none.map(({ name, text }) => [name, text]),
    fine.map(([name]) => [name, 'none yet: the first start creates it']),
  );
  assert.equal(JSON.stringify([none, await home.check()]).includes('cdcd'), false, 'no secret is shown');
});

test('a home whose database is on a server has no file of it, and misses its machine key all the same', async () => {
  await using home = await makeHome({ secrets: {} });
  await createAuditHeadFile({ path: home.at('audit-head.json'), secret: KEYS.audit_secret }).write(HEAD);
  await rm(home.at('headgate.db'));
  assert.deepEqual(
    (await home.check()).map(({ text }) => text).filter((text) => /none yet|in the database/.test(text)),
    Array(2).fill('is in the database, encrypted'),
  );
  await rm(home.at('headgate-key'));
  assert.deepEqual(
    (await home.findings()).map(([name, level]) => [name, level]),
    [['machine key', 'problem']],
  );
});

test('a former file of the database does not make a home used whose database is on a server', async () => {
  await using home = await makeHome({ token: undefined, secrets: undefined });
  await rm(home.at('headgate-key'));
  const check = async (hasServer: boolean) =>
    (await checkSecrets({ home: home.at(''), environment: {}, hasServer })).map(({ level }) => level);
  assert.deepEqual(await check(false), ['problem', 'problem', 'ok', 'ok']);
  assert.deepEqual(await check(true), ['ok', 'ok', 'ok', 'ok']);
});

test('a token that is missing, empty, malformed or open to others is reported with what to do', async () => {
  const mend = 'Restore it from a backup, or remove it and restart the daemon, which creates a new one.';
  const outcomes = [
    [
      undefined,
      'token is missing, so commands cannot log in',
      'Restore it from a backup, or restart the daemon, which creates a new one.',
    ],
    ['\n', 'token is empty', mend],
    ['svc_123', 'token does not hold a token', mend],
  ] as const;
  for (const [token, ...outcome] of outcomes) {
    await using home = await makeHome({ token });
    assert.deepEqual(await home.findings(), [['token', 'problem', ...outcome]]);
  }
  await using home = await makeHome();
  await chmod(home.at('token'), 0o640);
  assert.deepEqual(await home.findings(), [
    ['token', 'problem', 'token can be read by other users (mode 640)', "chmod 600 'token'"],
  ]);
  await rm(home.at('token'));
  await symlink(home.at('elsewhere'), home.at('token'));
  assert.deepEqual(await home.findings(), [
    ['token', 'problem', 'token is a symbolic link', 'Make it a regular file that belongs to this user.'],
  ]);
});

test('a key of an earlier version that is short or malformed is reported with what a new one costs', async () => {
  const stops = '; the daemon does not start with it';
  await using short = await makeHome({ secrets: { ...KEYS, jwt_secret: 'ab'.repeat(31) } });
  assert.deepEqual(await short.findings(), [
    [
      ...['login key', 'problem', `jwt_secret in secrets.json has 31 bytes, and needs at least 32${stops}`],
      'Restore it from a backup. Or remove it, and the next start creates a new one; all users have to log in again.',
    ],
  ]);
  await using odd = await makeHome({ secrets: { jwt_secret: KEYS.jwt_secret.toUpperCase(), audit_secret: 7 } });
  const flaw = `is not written in pairs of hexadecimal digits in lower case${stops}`;
  assert.deepEqual(
    (await odd.findings()).map(([name, , text]) => [name, text]),
    [
      ['login key', `jwt_secret in secrets.json ${flaw}`],
      ['audit key', `audit_secret in secrets.json ${flaw}`],
    ],
  );
  await using moved = await makeHome({ secrets: {} });
  assert.deepEqual(await moved.findings(), [], 'they are in the database');
});

test('the variable replaces the login key of the file, and is checked, too', async () => {
  const secrets = { ...KEYS, jwt_secret: 'short' };
  await using long = await makeHome({ secrets, environment: { HEADGATE_JWT_SECRET: 'x'.repeat(32) } });
  assert.deepEqual(await long.findings(), []);
  await using short = await makeHome({ environment: { HEADGATE_JWT_SECRET: 'sesame' } });
  assert.deepEqual(await short.findings(), [
    [
      ...['login key', 'problem'],
      'HEADGATE_JWT_SECRET has 6 bytes, and needs at least 32; the daemon does not start with it',
      'Set a longer one, such as the output of "openssl rand -hex 32", or unset it.',
    ],
  ]);
});

test('a damaged file with secrets is a problem, unless the version before it can be used', async () => {
  await using home = await makeHome({ secrets: '{ "jwt_' });
  const text = 'secrets.json is damaged: it must hold one JSON object';
  assert.deepEqual(await home.findings(), [
    ['secrets', 'problem', text, `Restore it from a backup. Otherwise the next start creates new secrets: ${LOSSES}`],
  ]);
  await home.write('secrets.json.bak', JSON.stringify(KEYS));
  assert.deepEqual(await home.findings(), [
    ['secrets', 'warning', text, 'The next start uses secrets.json.bak instead.'],
  ]);
  await rm(home.at('secrets.json'));
  await mkdir(home.at('secrets.json'), { mode: 0o700 });
  assert.deepEqual(
    (await home.findings()).map(([name, level]) => [name, level]),
    [['secrets', 'problem']],
  );
});

test('an audit key that did not sign the head of the trail is reported', async () => {
  await using home = await makeHome();
  await createAuditHeadFile({ path: home.at('audit-head.json'), secret: 'ef'.repeat(32) }).write(HEAD);
  assert.deepEqual(await home.findings(), [
    [
      ...['audit key', 'warning', 'audit-head.json was not signed with it'],
      'Restore both files from the same backup. headgate audit verify shows which records are affected.',
    ],
  ]);
});

test('a key of the machine that is missing, malformed or open to others is reported', async () => {
  await using home = await makeHome({ secrets: {} });
  const mend = 'Restore it from the backup that the database is from.';
  await chmod(home.at('headgate-key'), 0o644);
  const open = "headgate-key can be read by other users (mode 644); run: chmod 600 'headgate-key'";
  assert.deepEqual(await home.findings(), [['machine key', 'problem', open, mend]]);
  await rm(home.at('headgate-key'));
  const missing = 'headgate-key is missing, so the secrets of the database cannot be decrypted';
  assert.deepEqual(await home.findings(), [['machine key', 'problem', missing, mend]]);
  await home.write('headgate-key', 'hgk_');
  assert.match(String((await home.findings())[0]?.[2]), /^headgate-key does not hold a key of Headgate/);
  await using older = await makeHome();
  await rm(older.at('headgate-key'));
  assert.deepEqual(await older.findings(), [], 'the next start makes one');
});
