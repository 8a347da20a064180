import type { ToolCall } from '../message.ts';
import type { RuledCall } from '../permissions/rules/matching.ts';
import { approvalDigest } from '../tools/approval-digest.ts';
import type { PreparedCall } from '../tools/toolbox.ts';
import { type CallKeys, fingerprint, type Verdict, verdictOf } from './limits/repeats.ts';
import type { RunContext } from './run-context.ts';

/** Real paths of folders: the working directory, and those that may only be read. */
export interface CallPlaces {
  folder: string;
  readable: readonly string[];
}

/** A prepared call of the batch. */
export interface BatchCall {
  call: ToolCall;
  prepared: PreparedCall;
  /** What rules match. */
  ruled: RuledCall;
  /** The folders that are open to the workstream without asking. */
  places: CallPlaces;
  /** What identifies it: what it does, and what its approval is bound to. */
  keys: CallKeys;
}

/** Prepares a call and computes the digest that its approval is bound to. */
export async function prepareCall(run: RunContext, call: ToolCall): Promise<BatchCall> {
  const workdir = await run.settings.workdir.check();
  const context = { wsId: run.wsId, callId: call.id, workdir, history: run.messages, signal: run.signal };
  const prepared = await run.toolbox.prepare(call, context);
  const bindTo = prepared.kind === 'ready' ? prepared.bindTo : undefined;
  const digest = approvalDigest({
    tool: call.name,
    canonicalArguments: prepared.canonicalArguments,
    workdir: workdir.folder,
    ...(bindTo !== undefined && { bindTo }),
  });
  return {
    call,
    prepared,
    ruled: toRuled(call, prepared),
    places: { folder: workdir.folder.path, readable: workdir.readable.map(({ path }) => path) },
    keys: { call: fingerprint(call.name, prepared.canonicalArguments), digest },
  };
}

function toRuled({ name }: ToolCall, prepared: PreparedCall): RuledCall {
  if (prepared.kind === 'refused') return { names: [name] };
  const { approvalLabel, reading, matched } = prepared;
  return {
    names: approvalLabel === name ? [name] : [name, approvalLabel],
    ...matched,
    ...(reading && { reading }),
  };
}

/** Judges a call by what the run did before. */
export const judge = ({ progress }: RunContext, { keys }: BatchCall): Verdict =>
  verdictOf(progress.repeats, keys, progress.turns);

/** Why a call runs without the sandbox; undefined if it runs in it, or starts no process. */
export const whyNotSandboxed = ({ notSandboxed }: RunContext, { name }: ToolCall): string | undefined =>
  name === 'bash' ? notSandboxed : undefined;
