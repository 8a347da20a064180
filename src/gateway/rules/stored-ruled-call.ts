import path from 'node:path';
import type { CommandReading, Effect } from '../../agent/permissions/command-reading.ts';
import { readCommand } from '../../agent/permissions/read-command.ts';
import type { RuledCall } from '../../agent/permissions/rules/matching.ts';
import { findProtectedWrites } from '../../agent/sandbox/protected-paths.ts';
import { parsePatch } from '../../agent/tools/edits/parse-patch.ts';
import { ToolProblem } from '../../agent/tools/tool-problem.ts';
import { argumentsIn } from '../policies/call-subject.ts';
import type { StoredCall } from '../policies/latest-calls.ts';

/** What rules match of a stored call, as far as its arguments are still stored. */
export function toStoredRuled(call: StoredCall): RuledCall {
  const ruled = toRuled(call);
  const { reading, node } = ruled;
  const writes = reading && node === undefined ? findProtectedWrites(reading, [call.workdir]) : [];
  return { ...ruled, ...(writes.length > 0 && { protectedWrites: writes }) };
}

function toRuled({ message, argumentsJson, workdir }: StoredCall): RuledCall {
  const { name, decision } = message;
  const names = decision?.label === undefined ? [name] : [name, decision.label];
  const args = argumentsIn(argumentsJson);
  const { command, path: file, node } = args;
  if (name === 'bash' && typeof command === 'string')
    return { names, command, reading: readCommand(command, { folder: workdir }) };
  if (name === 'node' && typeof node === 'string')
    return { names, node, ...(typeof command === 'string' && { nodeCommand: command }) };
  if (name === 'apply_patch' && typeof args.patch === 'string')
    return { names, reading: toReading(toPatchEffects(args.patch, workdir)) };
  if (typeof file !== 'string') return { names };
  return { names, reading: toReading([toFileEffect(path.resolve(workdir, file), kindOf(name))]) };
}

const toReading = (effects: Effect[]): CommandReading => ({ commands: [], effects, gaps: [] });

const toFileEffect = (file: string, kind: Effect['kind']): Effect => ({
  kind,
  target: file,
  path: file,
  certain: true,
});

const CHANGING: readonly string[] = ['write_file', 'edit_file', 'edit_notebook'];
const kindOf = (tool: string): 'write' | 'read' => (CHANGING.includes(tool) ? 'write' : 'read');

/** A patch that was refused because it is malformed had no effects. */
function toPatchEffects(patch: string, workdir: string): Effect[] {
  try {
    return parsePatch(patch).flatMap((file) => {
      const at = path.resolve(workdir, file.path);
      if (file.kind === 'delete') return [toFileEffect(at, 'delete')];
      if (file.kind === 'add' || file.moveTo === undefined) return [toFileEffect(at, 'write')];
      return [toFileEffect(at, 'delete'), toFileEffect(path.resolve(workdir, file.moveTo), 'write')];
    });
  } catch (error) {
    if (error instanceof ToolProblem) return [];
    throw error;
  }
}
