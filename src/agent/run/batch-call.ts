import type { HookedCall } from '../hooks/hooked-run.ts';
import type { ToolCall } from '../message.ts';
import type { RuledCall } from '../permissions/rules/matching.ts';
import { findProtectedWrites } from '../sandbox/protected-paths.ts';
import { approvalDigest } from '../tools/approval-digest.ts';
import { allNamesOf, namesOf } from '../tools/called-names.ts';
import type { CallGrants, HostRules } from '../tools/tool.ts';
import type { PreparedCall } from '../tools/toolbox.ts';
import { policyInForce } from './approval/unattended-policy.ts';
import { type CallKeys, fingerprint, type Verdict, verdictOf } from './limits/repeats.ts';
import { askedFor } from './result-texts.ts';
import type { RuledRun, RunContext } from './run-context.ts';

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
  /** What a hook said that blocks it, once it did. */
  blockedByHook?: string;
}

export const prepareAll = (run: RunContext, calls: readonly ToolCall[]): Promise<BatchCall[]> =>
  Promise.all(calls.map((call) => prepareCall(run, call)));

/** The polls of watches have no progress, because none is started again, and no sub-agents. */
type Preparing = RuledRun & Partial<Pick<RunContext, 'progress' | 'subAgents' | 'coordination'>>;

/** Prepares a call and computes the digest that its approval is bound to. */
export async function prepareCall(run: Preparing, call: ToolCall): Promise<BatchCall> {
  const workdir = await run.settings.workdir.check();
  const context = {
    wsId: run.wsId,
    callId: call.id,
    workdir,
    history: run.messages,
    wasInterrupted: run.progress?.tools.get(call.id)?.state === 'started',
    hosts: hostRulesFor(run, call),
    subAgents: run.subAgents,
    coordination: run.coordination,
    signal: run.signal,
  };
  const prepared = await run.toolbox.prepare(call, context);
  const places = { folder: workdir.folder.path, readable: workdir.readable.map(({ path }) => path) };
  const ruled = toRuled(call, prepared, places);
  const bindTo = boundTo(prepared, ruled);
  const digest = approvalDigest({
    tool: call.name,
    canonicalArguments: prepared.canonicalArguments,
    workdir: workdir.folder,
    ...(bindTo !== undefined && { bindTo }),
  });
  return {
    call,
    prepared,
    ruled,
    places,
    keys: { call: fingerprint(call.name, prepared.canonicalArguments), digest },
  };
}

/** The rules about hosts, at each connection as they are then. Without anybody to ask, a command runs without more hosts. */
const hostRulesFor = (run: RuledRun, { name }: ToolCall): HostRules => ({
  canAsk: policyInForce(run) === undefined || run.settings.autoApprove,
  ruleOn(call, host) {
    const { rules } = run;
    const rule = rules.onHost({ ...call, names: [name] }, host);
    if (rule) rules.used(rule);
    return rule;
  },
});

function toRuled(call: ToolCall, prepared: PreparedCall, { folder, readable }: CallPlaces): RuledCall {
  if (prepared.kind === 'refused') return { names: namesOf(call, prepared) };
  const { reading, matched, runsLater } = prepared;
  // The paths of another machine are not those of the folders here.
  const writes = reading && matched?.node === undefined ? findProtectedWrites(reading, [folder, ...readable]) : [];
  return {
    names: namesOf(call, prepared),
    ...matched,
    ...(reading && { reading }),
    ...(matched?.command !== undefined && matched.node === undefined && { folder }),
    ...(runsLater && { later: { names: [runsLater.tool], command: runsLater.command, folder } }),
    ...(writes.length > 0 && { protectedWrites: writes }),
  };
}

/** What the approval covers besides the arguments, as the tool says, and what it lets the call do in particular. */
function boundTo(prepared: PreparedCall, ruled: RuledCall): string | undefined {
  if (prepared.kind !== 'ready') return undefined;
  const { protectedPaths, hosts } = grantsOf(ruled);
  return protectedPaths.length + hosts.length === 0
    ? prepared.bindTo
    : JSON.stringify([prepared.bindTo, protectedPaths, hosts]);
}

/** What a call may do if it is allowed, that other calls may not. */
export function grantsOf({ protectedWrites = [], reading }: RuledCall): CallGrants {
  return {
    protectedPaths: [...new Set(protectedWrites.map(({ place }) => place))],
    hosts: reading?.effects.flatMap(({ isUnreached, target }) => (isUnreached ? (target ?? []) : [])) ?? [],
  };
}

/** Judges a call by what the run did before. */
export const judge = ({ progress }: RunContext, { keys }: BatchCall): Verdict =>
  verdictOf(progress.repeats, keys, progress.turns);

/** The agent asks to run it outside the sandbox. */
export const asksForNoSandbox = ({ prepared }: Pick<BatchCall, 'prepared'>): boolean =>
  prepared.kind === 'ready' && prepared.sandboxOff !== undefined;

/** `watch` starts one later. Calls of it that only list or cancel read nothing. */
const startsCommand = (name: string, prepared: PreparedCall): boolean =>
  name === 'bash' || (name === 'watch' && prepared.kind === 'ready' && prepared.reading !== undefined);

/** Why a call runs without the sandbox; undefined if it runs in it, or starts no process. */
export function whyNotSandboxed(
  { notSandboxed }: Pick<RunContext, 'notSandboxed'>,
  { call, prepared }: Pick<BatchCall, 'call' | 'prepared'>,
): string | undefined {
  if (!startsCommand(call.name, prepared)) return undefined;
  if (notSandboxed !== undefined || prepared.kind !== 'ready') return notSandboxed;
  return prepared.sandboxOff && askedFor(prepared.sandboxOff);
}

/** The call as hooks see it. Hooks before a tool that is called later are asked about this call, which says what will run. */
export const toHooked = (
  { call, prepared }: Pick<BatchCall, 'call' | 'prepared'>,
  at: 'before' | 'after',
): HookedCall => ({
  callId: call.id,
  tool: call.name,
  names: at === 'before' ? allNamesOf(call, prepared) : namesOf(call, prepared),
  canonicalArguments: prepared.canonicalArguments,
});
