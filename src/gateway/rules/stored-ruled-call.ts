import path from 'node:path';
import type { CommandReading } from '../../agent/permissions/command-reading.ts';
import { readCommand } from '../../agent/permissions/read-command.ts';
import type { RuledCall } from '../../agent/permissions/rules/matching.ts';
import { findProtectedWrites } from '../../agent/sandbox/protected-paths.ts';
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
  return { names, ...(typeof file === 'string' && { reading: toFileReading(name, path.resolve(workdir, file)) }) };
}

const toFileReading = (tool: string, file: string): CommandReading => ({
  commands: [],
  effects: [{ kind: CHANGING.includes(tool) ? 'write' : 'read', target: file, path: file, certain: true }],
  gaps: [],
});

const CHANGING: readonly string[] = ['write_file', 'edit_file'];
