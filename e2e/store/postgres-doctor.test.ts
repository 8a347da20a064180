import assert from 'node:assert/strict';
import { chmod, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { needs } from '../../src/testing/needs.ts';
import { runHeadgate, startDaemon } from '../support/daemon/daemon.ts';
import { postgresScene } from '../support/daemon/postgres-scene.ts';

const installed = await needs('postgresql');

const scene = postgresScene({ retrySecs: 1 });

test(
  'doctor checks the database of store.url with the key of the home, and a former file of the home is only named',
  installed,
  async () => {
    const { server } = await scene();
    const HEADGATE_STORE_URL = await server.createDatabase();
    await using daemon = await startDaemon({ env: { HEADGATE_STORE_URL } });
    await daemon.stop();
    const former = path.join(daemon.home, 'headgate.db');
    await writeFile(former, 'this is no database at all', { mode: 0o600 });
    const check = async () => {
      const { stdout } = await runHeadgate(['doctor', '--json', '--home', daemon.home], { HEADGATE_STORE_URL });
      const { findings }: { findings: { name: string; level: string; text: string }[] } = JSON.parse(stdout);
      return findings.flatMap(({ name, level, text }) =>
        /database|files|same keys/.test(name) ? [`${level}: ${text}`] : [],
      );
    };
    const [left, database, keys, ...others] = await check();
    assert.equal(left, 'ok: headgate.db is left from before store.url was set; nothing uses it');
    assert.match(String(database), /^ok: PostgreSQL /);
    assert.deepEqual([keys, others], ['ok: the key and the token are those of the database', []]);
    await chmod(former, 0o644);
    assert.match(String((await check())[0]), /^warning: the former headgate\.db can be read by other users/);
    await rm(path.join(daemon.home, 'headgate-key'));
    assert.match(String((await check())[2]), /^problem: .* are encrypted with the key \S+, but/);
  },
);
