import assert from 'node:assert/strict';
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { randomIds } from '../../../ids.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { StagedFiles } from '../../attachments/staged-files.ts';
import { ServiceError, type ServiceErrorKind } from '../calls/service-error.ts';
import type { ChatFile } from './chat-message.ts';
import { receiveFiles } from './receive-files.ts';

const file = (id: string, more: Partial<ChatFile> = {}): ChatFile => ({
  ...{ id, kind: 'file', fileName: `${id}.txt`, size: 2, seconds: undefined },
  ...more,
});

/** Files whose name is `fails` fail with `kind`; others contain their id. */
function setUp(kind: ServiceErrorKind = 'unreachable') {
  const stored = new Map<string, string>();
  const arriving = new Map<string, string>();
  const files = {
    async write(id: string, bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>) {
      const pieces: Uint8Array[] = [];
      for await (const piece of bytes) pieces.push(piece);
      stored.set(id, Buffer.concat(pieces).toString());
    },
    async open(id: string) {
      const folder = await mkdtemp(path.join(tmpdir(), 'staged-'));
      await writeFile(path.join(folder, id), stored.get(id) ?? '');
      const handle = await open(path.join(folder, id));
      await rm(folder, { recursive: true });
      return handle;
    },
    async remove(id: string) {
      stored.delete(id);
    },
  };
  const staged = new StagedFiles({ files, arriving, clock: fakeClock(5), ids: randomIds });
  async function* bytesOf(id: string) {
    yield Buffer.from(id === 'zip' ? 'PK\x00' : id);
  }
  const opened: string[] = [];
  return {
    ...{ stored, arriving, opened },
    receive: (all: readonly ChatFile[], unreadable?: string) =>
      receiveFiles(
        { files: all, unreadable },
        { wsId: 'w', principal: 'p' },
        {
          async openFile({ id }) {
            opened.push(id);
            if (id === 'fails') throw new ServiceError(kind, 'no');
            return { size: undefined, bytes: bytesOf(id) };
          },
          attachments: { staged },
          hear: async ({ fileName, open }) => {
            if (fileName === 'noise.oga') return { kind: 'unheard', why: 'only noise.' };
            for await (const piece of (await open()).bytes)
              return { kind: 'text', text: `heard ${Buffer.from(piece)}` };
            return { kind: 'unheard', why: 'nothing.' };
          },
          stopping: new AbortController().signal,
        },
      ),
  };
}

test('files are claimed in their order, recordings become text, too; abandoned, nothing is left', async () => {
  const stage = setUp();
  const received = await stage.receive([file('a'), file('v', { kind: 'speech' }), file('b')]);
  assert.ok(received.kind === 'received' && received.claim);
  assert.deepEqual(
    received.claim.attachments.map(({ filename, kind }) => [filename, kind]),
    [
      ['a.txt', 'text'],
      ['v.txt', 'text'],
      ['b.txt', 'text'],
    ],
  );
  assert.deepEqual([received.spoken, received.notes, received.warnings], [['heard v'], [], []]);
  assert.deepEqual(
    received.claim.statements('run').map(({ parameters }) => parameters?.at(-1)),
    ['run', 'run', 'run'],
  );
  assert.equal(stage.arriving.size, 3, 'the sweep keeps them');
  await received.claim.abandon();
  assert.deepEqual([stage.stored.size, stage.arriving.size], [0, 0]);
});

test('a recording that nobody can turn into text is attached, and the model and the person are told', async () => {
  const received = await setUp().receive([file('n', { kind: 'speech', fileName: 'noise.oga', seconds: 12 })]);
  assert.ok(received.kind === 'received');
  const { claim, ...words } = received;
  assert.deepEqual(
    claim?.attachments.map(({ filename }) => filename),
    ['noise.oga'],
  );
  assert.deepEqual(words, {
    kind: 'received',
    spoken: [],
    notes: ['A recording of 12 seconds is attached as "noise.oga". Nobody knows what was said in it.'],
    warnings: ['noise.oga: only noise. I have kept the recording.'],
  });
});

test('once the claim is settled, the files are no longer arriving', async () => {
  const stage = setUp();
  const received = await stage.receive([file('a')]);
  assert.ok(received.kind === 'received' && received.claim);
  received.claim.settle();
  assert.deepEqual([stage.stored.size, stage.arriving.size], [1, 0]);
});

test('one file that cannot be read refuses the message, and the others are removed', async () => {
  const refused = {
    'big.txt is too large: I take at most 20 MiB.': file('big', { size: 20 * 1024 * 1024 + 1 }),
    'zip.txt: Only images (PNG, JPEG, GIF, WebP), PDFs, recordings, videos and UTF-8 text can be attached.':
      file('zip'),
  };
  for (const [why, bad] of Object.entries(refused)) {
    const stage = setUp();
    assert.deepEqual(await stage.receive([file('a'), bad]), { kind: 'refused', why });
    assert.deepEqual([stage.stored.size, stage.arriving.size], [0, 0], why);
  }
  const stage = setUp();
  assert.deepEqual(await stage.receive([file('a')], 'polls'), { kind: 'refused', why: 'I cannot read polls.' });
  const many = Array.from({ length: 11 }, (_, index) => file(`f${index}`));
  assert.deepEqual(await stage.receive(many), { kind: 'refused', why: 'I take at most 10 files with a message.' });
  assert.deepEqual(stage.opened, []);
});

test('what the service refuses is final, and what it does not answer is tried again', async () => {
  const final = {
    rejected: 'I could not load fails.txt.',
    'too-large': 'fails.txt is too large: I take at most 20 MiB.',
  };
  for (const kind of ['rejected', 'too-large'] as const)
    assert.deepEqual(await setUp(kind).receive([file('fails')]), { kind: 'refused', why: final[kind] });
  for (const kind of ['unreachable', 'ambiguous', 'rate-limited'] as const) {
    const stage = setUp(kind);
    await assert.rejects(stage.receive([file('a'), file('fails')]), { kind });
    assert.deepEqual([stage.stored.size, stage.arriving.size], [0, 0]);
  }
});
