import { mkdir, open, realpath, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Ids } from '../../ids.ts';
import { openHookNetwork } from '../hooks/hook-network.ts';
import type { HookRunner } from '../hooks/run-hook.ts';
import { runConfigured, toEndingWords, toWord } from '../tools/diagnostics/configured-command.ts';
import { holdFolder } from '../tools/files/held-folder.ts';
import type { Heard, Speech } from './speech.ts';

/** The program that turns recordings into text. */
export interface TranscribeCommand {
  /** A program and its arguments; the path of the recording is added. */
  command: readonly string[];
  timeoutSecs: number;
}

interface HearingDeps extends HookRunner {
  /** Read at each use. */
  command(): TranscribeCommand | undefined;
  /** For recordings, while they are turned into text. It is emptied first. */
  folder: string;
  ids: Pick<Ids, 'id'>;
}

const MAX_TEXT_BYTES = 256 * 1024;

/** Turns recordings into text with the program of the configuration, in the sandbox, as hooks run. */
export async function createHearing(deps: HearingDeps): Promise<(speech: Speech) => Promise<Heard>> {
  const { runner, guard, audit, live, folder: root, ids } = deps;
  await rm(root, { recursive: true, force: true });
  return async ({ fileName = '', open: load, signal }) => {
    const transcribe = deps.command();
    if (transcribe === undefined)
      return unheard('I cannot listen to recordings. My operator can set up a program for it');
    if (runner.sandbox.kind === 'none') return unheard('I cannot listen to it, because there is no sandbox');
    const folder = path.join(root, ids.id('speech'));
    const name = `recording${/\.\w{1,8}$/.exec(fileName)?.[0] ?? ''}`;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    try {
      await write(path.join(folder, name), (await load()).bytes);
      await using held = await holdFolder(await realpath(folder));
      const network = openHookNetwork({
        allowedHosts: () => live.allowedHosts,
        ruleOn: () => undefined,
        onConnection: (connection) =>
          audit.onConnection({ ...connection, host: guard.clean(connection.host), wsId: '', callId: 'transcribe' }),
      });
      const { result, bytes } = await runConfigured(
        {
          command: `${[...transcribe.command, `./${name}`].map(toWord).join(' ')} 2>/dev/null`,
          folder: held,
          timeoutMs: transcribe.timeoutSecs * 1_000,
          access: { others: [], areOthersReadOnly: true, tier: live.sandboxTier, writable: [] },
          network,
        },
        { runner, signal, onProcess: async () => undefined, maxBytes: MAX_TEXT_BYTES },
      );
      if (result.kind !== 'exited' || result.exitCode !== 0)
        return unheard(`my program for recordings failed (${toEndingWords(result, transcribe.timeoutSecs)})`);
      const text = bytes.subarray(0, MAX_TEXT_BYTES).toString('utf8').trim();
      return text === '' ? unheard('my program for recordings heard nothing') : { kind: 'text', text };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };
}

const unheard = (why: string): Heard => ({ kind: 'unheard', why: `${why}.` });

async function write(file: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  await using handle = await open(file, 'wx', 0o600);
  for await (const chunk of bytes) await handle.writeFile(chunk);
}
