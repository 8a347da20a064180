import path from 'node:path';
import type { ApprovalItem } from '../../../protocol/events/approval-item.ts';
import { toVisibleLine } from '../../../protocol/text/visible-text.ts';
import type { InstructionFile } from '../project/instructions.ts';
import { canAskMore } from '../run/approval/approval-need.ts';
import { askOnce } from '../run/approval/ask-once.ts';
import type { RunContext } from '../run/run-context.ts';
import type { Sight } from './surroundings.ts';

/** What was seen of the machine, and the instruction files that are not used and that nobody was asked about. */
export interface Seen {
  sight: Sight;
  undecided: InstructionFile[];
}

/**
 * Asks whether the instructions in folders that nobody trusts may be used, once per conversation and folder. If nobody
 * can be asked, they are not used. Returns what it saw, unless a decision or the time it took may have changed that.
 */
export async function settleTrust(run: RunContext): Promise<Seen | undefined> {
  const asked = run.progress.instructionsApproval;
  const seen = await lookAround(run);
  const { undecided: files } = seen;
  if (!asked && (files.length === 0 || !canAskMore(run))) return seen;
  const digests = asked?.digests ?? Object.fromEntries(files.map(({ path: file, digest }) => [file, digest]));
  const decision = await askOnce(run, { asked, kind: 'instructions', items: files.map(toItem), digests });
  // A file that has changed meanwhile is asked about again.
  const shown = files.filter(({ path: file, digest }) => digests[file] === digest);
  if (shown.length === 0) return undefined;
  await run.recorder.record({ trust: { folders: [...new Set(shown.map(folderOf))], isTrusted: decision.approved } });
  return undefined;
}

/** Looks at the machine. */
export async function lookAround({ surroundings, settings: { workdir }, trust }: RunContext): Promise<Seen> {
  const first = await surroundings.look(workdir.path, []);
  if (first.instructions.untrusted.length === 0) return { sight: first, undecided: [] };
  const { trusted, declined } = await trust.read();
  const sight = trusted.length === 0 ? first : await surroundings.look(workdir.path, trusted);
  return { sight, undecided: sight.instructions.untrusted.filter((file) => !declined.includes(folderOf(file))) };
}

const folderOf = ({ path: file, folder }: InstructionFile): string => folder ?? path.dirname(file);

const toItem = ({ path: file, text, folder }: InstructionFile): ApprovalItem => ({
  call_id: file,
  header: `${folder === undefined ? 'instructions' : 'skill'}: ${toVisibleLine(file)}`,
  subject: toVisibleLine(file),
  preview: text,
  func_name: 'instructions',
  approval_label: 'instructions',
  needs_approval: true,
  error: null,
});
