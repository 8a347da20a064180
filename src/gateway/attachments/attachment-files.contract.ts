import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AttachmentFiles } from './attachment-files.ts';

export interface OpenedFiles extends AsyncDisposable {
  files: AttachmentFiles;
  /** Lets a week pass. */
  later(): Promise<void>;
}

type Open = () => Promise<OpenedFiles>;
type Options = { skip?: boolean | string };

const MIB = 1_048_576;

async function read(files: AttachmentFiles, id: string, size: number): Promise<Buffer | undefined> {
  await using file = await files.open(id, size);
  return file?.readFile();
}

async function* inChunks(bytes: Buffer, length: number): AsyncGenerator<Buffer> {
  for (let from = 0; from < bytes.length; from += length) {
    yield bytes.subarray(from, from + length);
    await nextTurn();
  }
}

/** The requirements for every place of attachments; `name` is the prefix of each title. */
export function attachmentFilesContract(name: string, open: Open, options: Options = {}): void {
  wholeContract(name, open, options);
  brokenContract(name, open, options);
}

function wholeContract(name: string, open: Open, options: Options): void {
  test(`${name}: files of any size and form of arrival are read as they were written`, options, async () => {
    await using opened = await open();
    const { files } = opened;
    for (const [size, chunk] of [
      [0, 1],
      [1, 1],
      [1_000, 7],
      [256 * 1024, 65_536],
      [256 * 1024 + 1, 65_536],
      [MIB + 5, 300_003],
      [MIB, 5 * MIB],
    ] as const) {
      const bytes = randomBytes(size);
      const id = `att_${size}`;
      await files.write(id, inChunks(bytes, chunk));
      assert.deepEqual((await read(files, id, size))?.equals(bytes), true, `${size} bytes`);
      await using file = await files.open(id, size);
      const hash = createHash('sha256');
      for await (const piece of file?.createReadStream() ?? []) hash.update(piece);
      assert.equal(hash.digest('hex'), createHash('sha256').update(bytes).digest('hex'), `${size} bytes, streamed`);
    }
    await files.write('att_list', [Buffer.from('in '), Buffer.alloc(0), new Uint8Array([112])]);
    assert.equal(String(await read(files, 'att_list', 4)), 'in p');
  });

  test(`${name}: files are written and read side by side, and a reader may stop early`, options, async () => {
    await using opened = await open();
    const { files } = opened;
    const all = Array.from({ length: 5 }, (_, at) => ({ id: `att_${at}`, bytes: randomBytes(MIB + at) }));
    await Promise.all(all.map(({ id, bytes }) => files.write(id, inChunks(bytes, 100_000))));
    const same = await Promise.all(
      all.map(async ({ id, bytes }) => (await read(files, id, bytes.length))?.equals(bytes)),
    );
    assert.deepEqual(new Set(same), new Set([true]));
    await using file = await files.open('att_3', MIB + 3);
    const stream = file?.createReadStream() ?? assert.fail('it is there');
    for await (const piece of stream) {
      assert.ok(piece.length > 0);
      break;
    }
    assert.equal(stream.destroyed, true);
  });

  test(`${name}: a removed file is gone, and removing it again is no error`, options, async () => {
    await using opened = await open();
    const { files } = opened;
    await files.write('att_1', [Buffer.from('one')]);
    await files.write('att_2', [Buffer.from('two')]);
    await files.remove('att_1');
    await files.remove('att_1');
    assert.deepEqual([await files.open('att_1', 3), String(await read(files, 'att_2', 3))], [undefined, 'two']);
    await files.write('att_1', [Buffer.from('new')]);
    assert.equal(String(await read(files, 'att_1', 3)), 'new');
    await opened.later();
    assert.deepEqual(new Set(await files.list()), new Set(['att_1', 'att_2']));
  });
}

function brokenContract(name: string, open: Open, options: Options): void {
  test(`${name}: a file with another length, and one that is not there, cannot be opened`, options, async () => {
    await using opened = await open();
    const { files } = opened;
    await files.write('att_1', [Buffer.from('one')]);
    assert.deepEqual(await Promise.all([2, 4, 0].map((size) => files.open('att_1', size))), [
      undefined,
      undefined,
      undefined,
    ]);
    assert.equal(await files.open('att_2', 3), undefined);
  });

  for (const after of [0, 10, 700_000]) {
    test(
      `${name}: a file that breaks off after ${after} bytes leaves nothing, and can be sent again`,
      options,
      async () => {
        await using opened = await open();
        const { files } = opened;
        const broken = async function* () {
          yield* inChunks(randomBytes(after), 100_000);
          throw new Error('the client is gone');
        };
        await assert.rejects(files.write('att_1', broken()), { message: 'the client is gone' });
        await opened.later();
        assert.deepEqual([await files.open('att_1', after), await files.list()], [undefined, []]);
        await files.write('att_1', [Buffer.from('whole')]);
        assert.equal(String(await read(files, 'att_1', 5)), 'whole');
      },
    );
  }

  test(`${name}: a file is there only once it is complete`, options, async () => {
    await using opened = await open();
    const { files } = opened;
    const seen: unknown[] = [];
    const bytes = randomBytes(600_000);
    const watched = async function* () {
      for await (const chunk of inChunks(bytes, 100_000)) {
        seen.push(await files.open('att_1', bytes.length));
        yield chunk;
      }
    };
    await files.write('att_1', watched());
    assert.deepEqual(
      [new Set(seen), (await read(files, 'att_1', 600_000))?.equals(bytes)],
      [new Set([undefined]), true],
    );
  });

  test(`${name}: names that are no ids reach no other file`, options, async () => {
    await using opened = await open();
    const { files } = opened;
    for (const id of ['../att_1', '/etc/passwd', '', '.', "x' or '1'='1", 'a/b', 'a\0b']) {
      await assert.rejects(
        files.write(id, [Buffer.from('x')]),
        { message: 'not an attachment id' },
        JSON.stringify(id),
      );
      await assert.rejects(files.open(id, 1), { message: 'not an attachment id' });
      await assert.rejects(files.remove(id), { message: 'not an attachment id' });
    }
    await opened.later();
    assert.deepEqual(await files.list(), []);
  });
}
