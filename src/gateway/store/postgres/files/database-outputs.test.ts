import assert from 'node:assert/strict';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { createOutputs } from '../../../../agent/outputs/outputs.ts';
import { fakeClock } from '../../../../testing/fake-clock.ts';
import { needs } from '../../../../testing/needs.ts';
import { sharedPostgres } from '../../../../testing/postgres-server.ts';
import { someMachine } from '../../../../testing/some-machine.ts';
import { recordingLog, tempDir } from '../../../../testing/temp-store.ts';
import { openPostgresStore } from '../postgres-store.ts';

const installed = await needs('postgresql');

test(
  'a long output that is shared is read on another machine as on its own, until it is too old',
  installed,
  async () => {
    using dir = tempDir();
    const [here, there] = [join(dir.path, 'here'), join(dir.path, 'there')];
    await mkdir(here);
    const clock = fakeClock(1_000);
    const log = recordingLog();
    const url = await (await sharedPostgres()).createDatabase();
    await using store = await openPostgresStore({ url, machine: someMachine(), clock, log: recordingLog() });
    const stored = store.files?.outputs;
    const own = createOutputs({ folder: here, stored, log });
    const other = createOutputs({ folder: there, stored, log });
    const whole = 'Zürich 深色 😀\n'.repeat(30_000);
    await writeFile(join(here, 'out_1.log'), whole);
    assert.equal(await other.read('out_1.log', { offset: 0, limit: 10 }), undefined, 'it is not shared yet');
    await own.share('out_1.log');

    const { length } = Buffer.from(whole);
    for (const offset of [0, 1, 3, 262_130, 262_143, 262_144, 262_145, 524_287, length - 2, length, length + 5])
      for (const limit of [1, 2, 20, 300_000]) {
        const range = { offset, limit };
        assert.deepEqual(
          await other.read('out_1.log', range),
          await own.read('out_1.log', range),
          JSON.stringify(range),
        );
      }
    const pieces: Buffer[] = [];
    for await (const piece of (await other.open('out_1.log')) ?? []) pieces.push(piece);
    assert.equal(Buffer.concat(pieces).toString(), whole);

    await other.share('out_none.log');
    for (const name of ['../out_1.log', 'out_1', 'att_1', ''])
      assert.deepEqual(
        [await other.read(name, { offset: 0, limit: 1 }), await other.open(name)],
        [undefined, undefined],
      );
    await own.share('out_1.log');
    const problems = () => log.lines.flatMap(([level, line]) => (level === 'warn' ? [line] : []));
    assert.deepEqual(problems(), [], 'neither sharing again nor a missing file is a problem');

    await other.removeOld(1_000);
    assert.notEqual(await other.open('out_1.log'), undefined);
    await other.removeOld(1_001);
    assert.equal(await other.open('out_1.log'), undefined);
    assert.deepEqual(await readdir(here), ['out_1.log'], 'each machine removes its own files');

    // A daemon that was killed left the beginning, and then the database goes away.
    await store.commit({
      statements: [
        {
          sql: `insert into stored_files (file_id, kind, created_ms) values ('out_2.log', 'output', 1)`,
          parameters: [],
        },
      ],
    });
    await writeFile(join(here, 'out_2.log'), 'again');
    await own.share('out_2.log');
    assert.equal((await other.read('out_2.log', { offset: 0, limit: 9 }))?.text, 'again');
    await store.close();
    await writeFile(join(here, 'out_3.log'), 'later');
    await own.share('out_3.log');
    assert.deepEqual(problems(), ['an output is only on this machine']);
    assert.equal((await own.read('out_3.log', { offset: 0, limit: 9 }))?.text, 'later');
  },
);
