import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Message } from '../message.ts';
import { toCallEffects } from '../permissions/call-effects.ts';
import { type HeldFolder, holdFolder } from './files/held-folder.ts';
import type { Prepared, ToolContext, ToolOutcome, ToolRun } from './tool.ts';
import type { Workdir } from './workdir.ts';

/** A workdir and a Headgate home in a temporary folder, which is removed on dispose. */
export async function createToolFixture() {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'headgate-tools-')));
  const workdir = join(root, 'work');
  const home = join(root, 'home');
  await mkdir(workdir);
  await mkdir(home);
  const folder = await holdFolder(workdir);
  const others: HeldFolder[] = [];
  return {
    root,
    workdir,
    home,
    context: (history: readonly Message[] = []): ToolContext => ({
      wsId: 'ws-1',
      callId: 'call-1',
      workdir: { folder, readable: [] },
      history,
      signal: new AbortController().signal,
    }),
    /** Writes a file below the root and returns its path. */
    async file(path: string, content: string | Buffer): Promise<string> {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), content);
      return join(root, path);
    },
    /** Holds a folder as a working directory. */
    async hold(path: string): Promise<Workdir> {
      const other = await holdFolder(path);
      others.push(other);
      return { folder: other, readable: [] };
    },
    async [Symbol.asyncDispose]() {
      for (const held of [folder, ...others]) await held[Symbol.asyncDispose]();
      await rm(root, { recursive: true, force: true });
    },
  };
}

/** A tool run that records its live output. */
export function recordRun(signal: AbortSignal = new AbortController().signal): ToolRun & { chunks: string[] } {
  const chunks: string[] = [];
  const maxOutputBytes = 64 * 1024;
  return {
    signal,
    maxOutputBytes,
    chunks,
    onOutput: (chunk) => void chunks.push(chunk),
    onProcess: async () => undefined,
  };
}

/** Executes a prepared call; fails the test on a refusal. */
export async function execute(prepared: Prepared, run: ToolRun = recordRun()): Promise<ToolOutcome> {
  if (prepared.kind === 'refused') throw new Error(`refused: ${prepared.reason}`);
  const { guarded: _, ...outcome } = await prepared.execute(run);
  return outcome;
}

/** What a person would be shown, without the function. */
export function toShown(prepared: Prepared) {
  if (prepared.kind === 'refused') return prepared;
  const { execute: _, reading, matched: __, ...shown } = prepared;
  return { ...shown, ...(reading && { effects: toCallEffects(reading) }) };
}

/** The stored message of an earlier call that saw or left these files. */
export function sawFiles(files: Record<string, string>): Message {
  return { role: 'tool', callId: 'call-0', name: 'read_file', output: '', outcome: 'done', files };
}
