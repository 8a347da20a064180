import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { warn } from '../../../../protocol/notice.ts';
import { recordingLog, tempDir, tempStore } from '../../../testing/temp-store.ts';
import type { SqliteStore } from '../sqlite-store.ts';

const PAGE_BYTES = 4_096;
const SUFFIXES = ['', '-wal', '-shm'];
const STAMP = '19700101T000001Z';

/** Twenty commits in the file, and ten only in its log, as a kill leaves them. */
async function killedStore(dir: string): Promise<string> {
  const path = join(dir, 'found.db');
  const before = await tempStore({ path: join(dir, 'headgate.db') });
  await fill(before, 20);
  await before.close();
  await using killed = await tempStore({ path: join(dir, 'headgate.db') });
  await fill(killed, 10);
  for (const suffix of SUFFIXES) copyFileSync(join(dir, `headgate.db${suffix}`), path + suffix);
  return path;
}

async function fill(store: SqliteStore, commits: number): Promise<void> {
  for (let n = 0; n < commits; n += 1) {
    await store.commit({ events: { wsId: 'a', events: [{ type: 'info', message: 'x'.repeat(3_000) }] } });
  }
}

function overwrite(file: string, [from, to]: [number, number]): void {
  const bytes = readFileSync(file);
  writeFileSync(file, bytes.fill(0xa5, from, to));
}

const digestOf = (file: string): string => hash('sha256', readFileSync(file));
const contentOf = (path: string): (string | undefined)[] =>
  SUFFIXES.map((suffix) => (existsSync(path + suffix) ? digestOf(path + suffix) : undefined));

const DATABASE_DAMAGES: Record<string, (path: string) => void> = {
  'pages of garbage': (path) => overwrite(path, [8 * PAGE_BYTES, 20 * PAGE_BYTES]),
  'a cut to half': (path) => truncateSync(path, statSync(path).size >> 1),
  'a cut to nothing': (path) => truncateSync(path, 0),
  zeros: (path) => writeFileSync(path, Buffer.alloc(2 * PAGE_BYTES)),
  'garbage everywhere': (path) => {
    for (const suffix of SUFFIXES) writeFileSync(path + suffix, `no${suffix}`.repeat(5_000));
  },
};

for (const [title, inflict] of Object.entries(DATABASE_DAMAGES)) {
  test(`a database with ${title} is moved aside with all its bytes, and a notice says where`, async () => {
    using dir = tempDir();
    const path = await killedStore(dir.path);
    inflict(path);
    const found = contentOf(path);
    await using store = await tempStore({ path });
    const aside = `${path}.damaged-${STAMP}`;
    assert.deepEqual(contentOf(aside), found);
    assert.deepEqual(
      [store.setAside, store.notices, store.bounds('a').last],
      [
        aside,
        [
          warn(
            'database_set_aside',
            `The database was damaged. It was moved to found.db.damaged-${STAMP}, and an empty one was created.`,
          ),
        ],
        0,
      ],
    );
  });
}

interface LogDamage {
  inflict(path: string): void;
  log: 'damaged' | 'missing';
  /** Counts of thirty commits. */
  left: number;
}

const wal = (path: string) => `${path}-wal`;
const LOG_DAMAGES: Record<string, LogDamage> = {
  garbage: { inflict: (path) => writeFileSync(wal(path), 'garbage'.repeat(1_000)), log: 'damaged', left: 20 },
  'a cut to half': {
    inflict: (path) => truncateSync(wal(path), statSync(wal(path)).size >> 1),
    log: 'damaged',
    left: 25,
  },
  'a cut of one byte': {
    inflict: (path) => truncateSync(wal(path), statSync(wal(path)).size - 1),
    log: 'damaged',
    left: 29,
  },
  'one byte in its midst, and no index': {
    inflict(path) {
      const middle = statSync(wal(path)).size >> 1;
      overwrite(wal(path), [middle, middle + 1]);
      rmSync(`${path}-shm`);
    },
    log: 'damaged',
    left: 25,
  },
  'nothing in it': { inflict: (path) => truncateSync(wal(path), 0), log: 'missing', left: 20 },
  'no file': { inflict: (path) => rmSync(wal(path)), log: 'missing', left: 20 },
};

for (const [title, { inflict, log, left }] of Object.entries(LOG_DAMAGES)) {
  test(`a log with ${title} is copied, its readable part is used, and the epoch is new`, async () => {
    using dir = tempDir();
    const path = await killedStore(dir.path);
    const epoch = await epochOf(path);
    inflict(path);
    const [, found] = contentOf(path);
    const copy = `${wal(path)}.damaged-${STAMP}`;
    await using store = await tempStore({ path });
    await fill(store, 1);
    const kept = log === 'missing' ? '' : ` It is kept as found.db-wal.damaged-${STAMP}.`;
    assert.deepEqual(
      { copy: existsSync(copy) && digestOf(copy), last: store.bounds('a').last, notices: store.notices },
      {
        copy: log === 'missing' ? false : found,
        last: left + 1,
        notices: [warn('changes_lost', `The log of the database was ${log}, so the newest changes are lost.${kept}`)],
      },
    );
    assert.notEqual(store.epoch, epoch);
  });
}

const HARMLESS: Record<string, (path: string) => void> = {
  'a garbage index': (path) => writeFileSync(`${path}-shm`, 'garbage'.repeat(5_000)),
  'no index': (path) => rmSync(`${path}-shm`),
  'a frame that was cut off': (path) => writeFileSync(wal(path), Buffer.alloc(100), { flag: 'a' }),
  'all in order': () => undefined,
};

for (const [title, inflict] of Object.entries(HARMLESS)) {
  test(`after a kill with ${title} nothing is lost, reported or copied`, async () => {
    using dir = tempDir();
    const path = await killedStore(dir.path);
    const epoch = await epochOf(path);
    inflict(path);
    const log = recordingLog();
    await using store = await tempStore({ path, log });
    assert.deepEqual(
      { last: store.bounds('a').last, epoch: store.epoch, notices: store.notices, lines: log.lines },
      { last: 30, epoch, notices: [], lines: [] },
    );
    assert.deepEqual(
      readdirSync(dir.path).filter((name) => name.includes('damaged')),
      [],
    );
  });
}

/** Uses a copy, because opening changes the file. */
async function epochOf(path: string): Promise<string> {
  using dir = tempDir();
  const copy = join(dir.path, 'copy.db');
  for (const suffix of SUFFIXES) copyFileSync(path + suffix, copy + suffix);
  await using store = await tempStore({ path: copy });
  return store.epoch;
}
