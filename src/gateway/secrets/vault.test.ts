import assert from 'node:assert/strict';
import { chmod, copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import type { Notice } from '../../../protocol/notice.ts';
import type { MachineKeyFiles } from '../../home/machine-key.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { recordingLog, tempDir } from '../../testing/temp-store.ts';
import { openSqliteStore, type SqliteStore } from '../store/sqlite-store.ts';
import { build, statementOf } from '../store/statements.ts';
import { openTestVault, testKeys } from '../testing/test-vault.ts';

const VALUES = { one: 'canary-value-number-one', two: 'canary-value-number-two' };
const OPERATOR_MENDS =
  /Restore .* from .* backup.* Without one, start once with --new-secrets: .* Nothing was changed\.$/;

/** A home with a database that can be closed and opened, as processes do. */
async function setUp() {
  const dir = tempDir();
  const home = dir.path;
  const openStore = () =>
    openSqliteStore({
      ...{ path: join(home, 'headgate.db'), clock: fakeClock(1_000), log: recordingLog() },
      ...{ durability: 'normal', bootId: 'boot' },
    });
  let store = await openStore();
  return {
    home,
    at: (name: string) => join(home, name),
    get store(): SqliteStore {
      return store;
    },
    vault: (options?: Parameters<typeof openTestVault>[2]) => openTestVault(store, home, options),
    async reopen(): Promise<void> {
      await store.close();
      store = await openStore();
    },
    /** The values that a new process finds. */
    async values() {
      const vault = await openTestVault(store, home);
      return { one: await vault.find('one'), two: await vault.find('two') };
    },
    keyFiles: async () => (await readdir(home)).filter((name) => name.startsWith('headgate-key')).sort(),
    /** All bytes of the database's files. */
    async dump() {
      const names = (await readdir(home)).filter((name) => name.startsWith('headgate.db'));
      return Buffer.concat(await Promise.all(names.map((name) => readFile(join(home, name)))));
    },
    async [Symbol.asyncDispose]() {
      await store.close();
      dir[Symbol.dispose]();
    },
  };
}

test('secrets are found again, and are nowhere in the files of the database, also after a rotation', async () => {
  await using world = await setUp();
  const vault = await world.vault();
  await vault.add(VALUES);
  const isClear = async () => {
    const dump = await world.dump();
    return Object.values(VALUES).some(
      (value) => dump.includes(value) || dump.includes(Buffer.from(value).toString('base64')),
    );
  };
  assert.equal(await isClear(), false);
  await vault.rotate({});
  assert.equal(await isClear(), false);
  await world.reopen();
  assert.deepEqual(
    [await world.values(), await isClear(), await (await world.vault()).find('three')],
    [VALUES, false, undefined],
  );
});

test('a rotation replaces both keys and leaves nothing that the former ones can decrypt', async () => {
  await using world = await setUp();
  const vault = await world.vault();
  await vault.add(VALUES);
  const before = await vault.status();
  const former = await world.store.db.selectFrom('secrets').select('sealed').execute();
  const [wrapping] = await world.store.db.selectFrom('store_keys').select('wrapped').execute();
  const formerKey = await readFile(world.at('headgate-key'), 'utf8');
  const after = await vault.rotate({ two: 'another value' });
  assert.notEqual(after.storeKeyId, before.storeKeyId);
  assert.notEqual(after.machineKeyId, before.machineKeyId);
  assert.notEqual(await readFile(world.at('headgate-key'), 'utf8'), formerKey);
  assert.deepEqual(await world.keyFiles(), ['headgate-key']);
  const dump = await world.dump();
  for (const text of [wrapping?.wrapped ?? '', ...former.map(({ sealed }) => sealed)])
    assert.equal(dump.includes(text.slice(text.lastIndexOf('.') + 1)), false, 'a text of the former key is left');
  assert.deepEqual(await world.values(), { ...VALUES, two: 'another value' });
  assert.deepEqual((await vault.rotate({})).names, ['one', 'two']);
});

class Killed extends Error {}

/** The steps of a rotation in their order; a process is killed before or after each of them. */
const STEPS = ['stage', 'commit', 'adopt', 'emptyLog', 'forget'] as const;

for (const step of STEPS)
  for (const when of ['before', 'after'] as const)
    test(`a kill ${when} the step ${step} of a rotation loses nothing, and the next start leaves one key`, async () => {
      await using world = await setUp();
      await (await world.vault()).add(VALUES);
      let isArmed = false;
      const dying =
        <A extends unknown[], T>(name: (typeof STEPS)[number], work: (...args: A) => Promise<T>) =>
        async (...args: A): Promise<T> => {
          if (isArmed && name === step && when === 'before') throw new Killed();
          const done = await work(...args);
          if (isArmed && name === step) throw new Killed();
          return done;
        };
      const files = testKeys(world.home);
      const keys: MachineKeyFiles = {
        ...files,
        stage: dying('stage', files.stage),
        adopt: dying('adopt', files.adopt),
        // A killed process does not tidy up either.
        forget: dying('forget', async () => (isArmed && step !== 'forget' ? undefined : files.forget())),
      };
      const { db, commit, emptyLog } = world.store;
      const store = { db, commit: dying('commit', commit), emptyLog: dying('emptyLog', emptyLog) };
      const vault = await openTestVault(store, world.home, { keys });
      isArmed = true;
      await assert.rejects(vault.rotate({}), Killed);
      await world.reopen();
      assert.deepEqual(await world.values(), VALUES);
      assert.deepEqual(await world.keyFiles(), ['headgate-key']);
      await (await world.vault()).rotate({});
      assert.deepEqual(await world.values(), VALUES);
    });

test('a rotation whose files could not be written is finished by the next one', async () => {
  await using world = await setUp();
  await (await world.vault()).add(VALUES);
  const files = testKeys(world.home);
  let isFull = true;
  const adopt = async () => (isFull ? assert.fail('the disk is full') : files.adopt());
  const vault = await world.vault({ keys: { ...files, adopt } });
  await assert.rejects(vault.rotate({}), /the disk is full/);
  isFull = false;
  await vault.rotate({});
  assert.deepEqual([await world.values(), await world.keyFiles()], [VALUES, ['headgate-key']]);
});

test('a rotation of which the database lost its part is taken back', async () => {
  await using world = await setUp();
  await (await world.vault()).add(VALUES);
  await world.store.emptyLog();
  await copyFile(world.at('headgate.db'), world.at('earlier'));
  const vault = await world.vault({ keys: { ...testKeys(world.home), forget: async () => undefined } });
  await vault.rotate({});
  await world.store.close();
  await copyFile(world.at('earlier'), world.at('headgate.db'));
  await world.reopen();
  assert.deepEqual([await world.values(), await world.keyFiles()], [VALUES, ['headgate-key']]);
});

test('a text that was moved to another row, altered, or deleted with its key is refused and named', async () => {
  await using world = await setUp();
  await (await world.vault()).add(VALUES);
  const rows = await world.store.db.selectFrom('secrets').selectAll().orderBy('name').execute();
  const sealed = rows[0]?.sealed ?? assert.fail();
  const setTwo = (text: string) =>
    world.store.commit({
      statements: [statementOf(build.updateTable('secrets').set({ sealed: text }).where('name', '=', 'two'), 1)],
    });
  for (const [text, says] of [
    [sealed, 'sealed of "two" in the table secrets is damaged, or was copied from another place'],
    [`${sealed.slice(0, -2)}AA`, 'sealed of "two" in the table secrets is damaged, or was copied from another place'],
    ['clear', 'sealed of "two" in the table secrets is damaged: it is not an encrypted text'],
    [sealed.replace(/^v1\.\w+/, 'v1.000000000000'), 'was encrypted with the key 000000000000 instead of'],
  ] as const) {
    await setTwo(text);
    await assert.rejects(world.vault(), ({ message }: Error) => {
      assert.ok(message.includes(says), message);
      assert.match(message, OPERATOR_MENDS);
      return true;
    });
  }
  await world.store.commit({ statements: [statementOf(build.deleteFrom('store_keys'))] });
  await assert.rejects(world.vault(), /the key of the store is missing/);
});

test('a key that is missing, another one, malformed or open to others is refused, and nothing is changed', async () => {
  await using world = await setUp();
  const { machineKeyId } = await (await world.vault()).status();
  const file = world.at('headgate-key');
  const whole = await readFile(file, 'utf8');
  const refusals: [string, () => Promise<unknown>, RegExp][] = [
    [
      'missing',
      () => rm(file),
      new RegExp(`encrypted with the key ${machineKeyId} of this machine, but there is no file headgate-key`),
    ],
    [
      'another',
      () => writeFile(file, `hgk_${'0'.repeat(64)}\n`, { mode: 0o600 }),
      /headgate-key holds the key [0-9a-f]{12}\. Restore/,
    ],
    ['malformed', () => writeFile(file, 'hgk_12', { mode: 0o600 }), /headgate-key does not hold a key of Headgate/],
    ['open', () => chmod(file, 0o640), /headgate-key can be read by other users \(mode 640\); run: chmod 600/],
  ];
  for (const [name, spoil, says] of refusals) {
    await spoil();
    const [dump, files] = [await world.store.db.selectFrom('store_keys').selectAll().execute(), await world.keyFiles()];
    await assert.rejects(world.vault(), { message: says }, name);
    assert.deepEqual(
      [await world.store.db.selectFrom('store_keys').selectAll().execute(), await world.keyFiles()],
      [dump, files],
    );
    await rm(file, { force: true });
    await writeFile(file, whole, { mode: 0o600 });
  }
  assert.equal((await (await world.vault()).status()).machineKeyId, machineKeyId);
});

test('a lost key is given up only on request; secrets that can be decrypted stay even then', async () => {
  await using world = await setUp();
  await (await world.vault()).add(VALUES);
  const notices: Notice[] = [];
  const open = () => world.vault({ discardsLost: true, onNotice: (notice) => notices.push(notice) });
  assert.equal(await (await open()).find('one'), VALUES.one);
  await rm(world.at('headgate-key'));
  assert.deepEqual((await (await open()).status()).names, []);
  assert.deepEqual(
    notices.map(({ code }) => code),
    ['secrets_discarded'],
  );
});

test('a credential of systemd takes over from the file, and its successor from it', async () => {
  await using world = await setUp();
  await (await world.vault()).add(VALUES);
  const folder = world.at('credentials');
  await mkdir(folder);
  const environment = { CREDENTIALS_DIRECTORY: folder };
  const give = (name: string, digit: string) =>
    writeFile(join(folder, name), `hgk_${digit.repeat(64)}`, { mode: 0o600 });
  const open = async () => {
    const notices: Notice[] = [];
    const vault = await world.vault({ environment, onNotice: (notice) => notices.push(notice) });
    const { isCredential, machineKeyPath, names } = await vault.status();
    return [
      isCredential,
      basename(machineKeyPath),
      names.length,
      await vault.find('one'),
      notices.map(({ code }) => code),
    ];
  };
  const taken = [true, 'headgate-key', 2, VALUES.one];
  await give('headgate-key', '1');
  assert.deepEqual(await open(), [...taken, ['machine_key_moved']]);
  await rm(world.at('headgate-key'));
  assert.deepEqual(await open(), [...taken, []]);
  await give('headgate-key', '2');
  await assert.rejects(open(), /holds the key/);
  await give('headgate-key-former', '1');
  assert.deepEqual(await open(), [...taken, ['machine_key_moved']]);
  await rm(join(folder, 'headgate-key-former'));
  const vault = await world.vault({ environment });
  const before = await vault.status();
  const after = await vault.rotate({});
  assert.deepEqual([after.machineKeyId, after.storeKeyId === before.storeKeyId], [before.machineKeyId, false]);
  assert.deepEqual(await open(), [...taken, []]);
  await chmod(join(folder, 'headgate-key'), 0o644);
  await assert.rejects(open(), /The credential .*headgate-key can be read by other users \(mode 644\)/);
});
