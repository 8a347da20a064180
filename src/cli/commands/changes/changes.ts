import { createInterface } from 'node:readline/promises';
import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';
import type { Result } from '../../../../protocol/index.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import type { Surroundings } from '../../../home/home-path.ts';
import { StartError, UsageError } from '../../../start-error.ts';
import { readVersion } from '../../../version.ts';
import { resolveTarget, type TargetFlags, withClient } from '../../connect.ts';
import { getWorkstream } from '../../find-workstream.ts';
import { toSafeText } from '../../terminal/safe-text.ts';

type InWorkstream = TargetFlags & { workstream?: string };
/** Flags of `undo` and `redo`. */
export type UndoFlags = InWorkstream & { file?: string; run?: string; keep?: boolean; overwrite?: boolean };
/** Flags of `discard`. */
export type DiscardFlags = InWorkstream & { yes?: boolean };

interface CommandOf<F> {
  flags: F;
  around: Surroundings;
  root: URL;
}

/** Takes back what runs changed, or brings it back: all of it, or one file. */
export async function change(direction: 'undo' | 'redo', command: CommandOf<UndoFlags>): Promise<void> {
  const { file, run, keep, overwrite } = command.flags;
  if (keep && overwrite) throw new UsageError('Choose either --keep or --overwrite.');
  if (file !== undefined && (keep || overwrite))
    throw new UsageError(
      'A single file is changed only if it is as the run left it: leave out --keep and --overwrite.',
    );
  const onConflict = keep ? ('keep' as const) : overwrite ? ('overwrite' as const) : undefined;
  const done = await ask(command, (client, wsId) =>
    client.call(`checkpoint.${direction}`, {
      wsId,
      ...(run !== undefined && { runId: run }),
      ...(file !== undefined && { path: file }),
      ...(onConflict && { onConflict }),
    }),
  );
  report(done);
}

/** Shows what would be lost, asks, and puts the file back. Refused if it changes meanwhile. */
export async function discard(path: string, command: CommandOf<DiscardFlags>): Promise<void> {
  const { yes = false } = command.flags;
  if (!yes && !process.stdin.isTTY)
    throw new UsageError('There is no terminal to ask in. Use --yes to discard without a question.');
  await ask(command, async (client, wsId) => {
    const { seen, diff = '', without } = await client.call('file.diff', { wsId, path });
    if (seen === undefined) throw new StartError(`${toVisibleLine(path)} cannot be put back here. Use git for it.`);
    if (!yes && !(await agrees(path, without === undefined ? toSafeText(diff) : `(${WITHOUT[without]})`))) {
      process.stderr.write('Nothing was changed.\n');
      return;
    }
    const done = await client.call('file.discard', { wsId, path, seen });
    report(done);
    const [runId] = done.runIds;
    if (runId !== undefined && done.failed.length === 0)
      process.stderr.write(`To bring it back: headgate undo --run ${runId} --file ${toVisibleLine(path)}\n`);
  });
}

const WITHOUT = { binary: 'not text', large: 'too large to compare', secret: 'not shown' } as const;

async function agrees(path: string, diff: string): Promise<boolean> {
  process.stderr.write(`${diff}\n`);
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await lines.question(`Put ${toVisibleLine(path)} back as it is in the last commit? [y/N] `);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    lines.close();
  }
}

/** The names on stdout, for scripts; what was not done on stderr. Throws if something failed. */
function report({ changed, kept, missing, failed }: Result<'checkpoint.undo'>): void {
  process.stdout.write(changed.map((path) => `${toVisibleLine(path)}\n`).join(''));
  if (changed.length === 0 && failed.length === 0) process.stderr.write('No file had to be changed.\n');
  for (const path of kept) process.stderr.write(`Left as it is: ${toVisibleLine(path)}\n`);
  for (const path of missing) process.stderr.write(`Not stored, so not restored: ${toVisibleLine(path)}\n`);
  if (failed.length > 0)
    throw new StartError(`Not changed: ${failed.map(({ path, why }) => `${toVisibleLine(path)} (${why})`).join(', ')}`);
}

async function ask<T>(
  { flags, around, root }: CommandOf<InWorkstream>,
  work: (client: GatewayClient, wsId: string) => Promise<T>,
): Promise<T> {
  const caller = { target: await resolveTarget(flags, around), version: await readVersion(root) };
  return withClient(caller, async (client) => work(client, await getWorkstream(client, flags.workstream ?? 'main')));
}
