import type { Prepared } from './tool.ts';

type Ready = Extract<Prepared, { kind: 'ready' }>;
type Named = { kind: 'refused' } | Pick<Ready, 'kind' | 'approvalLabel' | 'calls' | 'runsLater'>;

/**
 * What a call is known by wherever somebody says something about tools: the tool that was called, the one that it calls, and
 * what people are asked about.
 */
export function namesOf({ name }: { name: string }, prepared: Named): string[] {
  if (prepared.kind === 'refused') return [name];
  return [...new Set([name, prepared.calls ?? name, prepared.approvalLabel])];
}

/** The same with the tool that runs later because of the call: whoever takes that one away, or blocks it, means this call, too. */
export function allNamesOf(call: { name: string }, prepared: Named): string[] {
  const later = prepared.kind === 'refused' ? undefined : prepared.runsLater?.tool;
  return [...namesOf(call, prepared), ...(later === undefined ? [] : [later])];
}
