import type { RunOutcome } from '../../../protocol/run-outcome.ts';
import type { QuestionKind } from '../../../protocol/stream-events.ts';
import type { HostRule } from '../permissions/rules/host-rule.ts';
import type { ToolOutcome } from '../tools/tool.ts';
import type { WorkdirSource } from '../tools/workdir.ts';

/** The run that hooks are about. */
export interface HookedRun {
  wsId: string;
  runId: string;
  workdir: WorkdirSource;
  /** Aborts when the run must stop. */
  signal: AbortSignal;
  /** Aborts when the daemon stops. */
  stopping: AbortSignal;
  /** The permission rule about a host, at this moment. */
  ruleOn(host: string): HostRule | undefined;
  /** Shows people a notice in the conversation. Must not throw. */
  tell(notice: string): void;
}

/** A call of a tool, as hooks see it. */
export interface HookedCall {
  callId: string;
  tool: string;
  /** All that it is known by, of which a hook may name one. */
  names: readonly string[];
  /** As JSON. */
  canonicalArguments: string;
}

/** A question that waits for a person. */
export interface WaitingQuestion {
  approvalId: string;
  kind: QuestionKind;
  items: readonly { call_id: string; func_name: string; subject?: string | undefined }[];
}

/** How a run ended. */
export interface RunEnd extends Pick<RunOutcome, 'status' | 'error'> {
  summary: string;
}

/** The hooks of one run. */
export interface RunHooks {
  /** Why the call must not run; undefined: nothing that a hook says keeps it. Rejects with the signal's reason. */
  beforeTool(call: HookedCall): Promise<string | undefined>;
  /** Whether hooks run after calls that are known by these names. */
  hasAfterTool(names: readonly string[]): boolean;
  /** The result with what hooks add. Never rejects, because the call is done. */
  afterTool(call: HookedCall, result: ToolOutcome): Promise<ToolOutcome>;
  /** Returns at once; nothing waits for these hooks. */
  onAttention(question: WaitingQuestion): void;
  /** Returns at once; nothing waits for these hooks. */
  onEnd(end: RunEnd): void;
}
