import type { CommandReading } from '../../permissions/command-reading.ts';
import { isEdit, isHarmless } from '../../permissions/harmless.ts';
import type { RulesVerdict } from '../../permissions/rules/compile-rules.ts';
import type { BatchCall } from '../batch-call.ts';
import type { RuledRun } from '../run-context.ts';
import type { CallRuling } from './call-ruling.ts';
import { isAllowed } from './unattended-policy.ts';

/** What lets a call run that needs approval; undefined: nothing does. The call runs in the sandbox if it starts a process. */
export function unaskedBecause(run: RuledRun, item: BatchCall, { allow, left }: RulesVerdict): CallRuling | undefined {
  const { name } = item.call;
  if (allow && (left === undefined || isHarmlessCall(item, left)))
    return {
      verdict: 'run',
      reason: allow.source,
      rule: allow,
      auto: allow.source === 'policy' ? 'policy' : 'always',
    };
  if (run.settings.approvedTools?.includes(name)) return runs('auto_approve_tools');
  if (isAllowed(run.policy, name)) return runs('job');
  if (left === undefined) return undefined;
  if (isHarmlessCall(item, left)) return runs('harmless');
  const { mode } = run.settings;
  return (mode === 'edits' || mode === 'auto') && isEditCall(item, left) ? runs('mode') : undefined;
}

const runs = (reason: 'auto_approve_tools' | 'job' | 'harmless' | 'mode'): CallRuling => ({
  verdict: 'run',
  reason,
  auto: reason,
});

/** Only of commands: other tools say themselves what needs approval. */
const isHarmlessCall = ({ ruled, places }: BatchCall, left: CommandReading): boolean =>
  ruled.command !== undefined && isHarmless(left, { roots: [places.folder, ...places.readable] });

/** It changes files of the working directory only; further folders may be read. */
function isEditCall({ ruled, places }: BatchCall, left: CommandReading): boolean {
  if (ruled.node !== undefined) return false;
  const { folder, readable } = places;
  const changes = left.effects.filter(({ kind }) => kind === 'write' || kind === 'delete');
  return (
    isEdit(left, { roots: [folder, ...readable] }) &&
    (readable.length === 0 || isEdit({ effects: changes, gaps: [] }, { roots: [folder] }))
  );
}

/** Whether the mode `read_only` lets the call run, or ask: it changes nothing outside the conversation. */
export function isReadOnlyCall(item: BatchCall): boolean {
  const { prepared, ruled } = item;
  if (prepared.kind !== 'ready') return true;
  if (prepared.stored !== undefined) return prepared.stored === 'read';
  if (!prepared.needsApproval || prepared.tool?.readOnly === true) return true;
  return ruled.reading !== undefined && isHarmlessCall(item, ruled.reading);
}
