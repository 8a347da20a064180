import { GatewayError } from '../../../protocol/errors.ts';
import type { SessionRow, sessionsContracts } from '../../../protocol/methods/sessions.ts';
import type { Clock } from '../../clock.ts';
import type { Handlers } from '../call.ts';
import type { Settings } from '../workstreams/settings.ts';
import { toThinkingLevel, toVerboseLevel } from '../workstreams/thinking-level.ts';
import type { WorkstreamData } from '../workstreams/workstream-data.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';

interface SessionsMethodDeps {
  workstreams: Workstreams;
  settings: Settings;
  models: { current(): { alias: string } };
  /** Where sessions are kept, for people who ask. */
  storePath: string;
  clock: Clock;
}

export const sessionsMethods = (deps: SessionsMethodDeps): Handlers<keyof typeof sessionsContracts> => ({
  'sessions.list': ({ limit, activeMinutes }) => {
    const nowMs = deps.clock.now();
    const since = activeMinutes === undefined ? 0 : nowMs - activeMinutes * 60_000;
    const sessions = deps.workstreams
      .list()
      .map(({ data }) => toSessionRow(data))
      .filter(({ updatedAt }) => (updatedAt ?? 0) >= since)
      .sort((a, b) => (b.updatedAt ?? 0) - (a.updatedAt ?? 0))
      .slice(0, limit);
    return { ts: nowMs, path: deps.storePath, count: sessions.length, defaults: defaultsOf(deps), sessions };
  },
  'sessions.patch': async ({ key, thinkingLevel, verboseLevel }) => {
    const change = {
      ...(thinkingLevel !== undefined && { thinkingLevel: thinkingLevel && toThinkingLevel(thinkingLevel) }),
      ...(verboseLevel !== undefined && { verboseLevel: verboseLevel && toVerboseLevel(verboseLevel) }),
    };
    if (key.trim() === '') throw new GatewayError('INVALID_REQUEST', 'key required');
    const workstream = await deps.workstreams.obtainByKey(key.trim());
    await deps.settings.change(workstream, change);
    const { data } = workstream;
    return {
      ok: true,
      path: deps.storePath,
      key: data.sessionKey,
      entry: {
        sessionId: data.wsId,
        updatedAt: data.updatedMs,
        ...(data.thinkingLevel !== null && { thinkingLevel: data.thinkingLevel }),
        ...(data.verboseLevel !== null && { verboseLevel: data.verboseLevel }),
      },
    };
  },
});

export const defaultsOf = ({ models }: { models: { current(): { alias: string } } }) => ({
  model: models.current().alias,
  contextTokens: null,
});

export function toSessionRow(data: WorkstreamData): SessionRow {
  const status = data.status();
  return {
    key: data.sessionKey,
    kind: 'direct',
    updatedAt: data.updatedMs,
    sessionId: data.wsId,
    ...(data.abortedLastRun && { abortedLastRun: true }),
    ...(data.thinkingLevel !== null && { thinkingLevel: data.thinkingLevel }),
    ...(data.verboseLevel !== null && { verboseLevel: data.verboseLevel }),
    model: data.toRow().modelAlias,
    ...(status && {
      inputTokens: status.prompt_tokens,
      outputTokens: status.completion_tokens,
      totalTokens: status.total_tokens,
      ...(status.context_window > 0 && { contextTokens: status.context_window }),
    }),
  };
}
