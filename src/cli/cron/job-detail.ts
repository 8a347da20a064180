import type { CronApproval, CronExtendedJob, CronMisfire, CronPayload } from '../../../protocol/cron.ts';
import { toVisibleLine, toVisibleText } from '../../../protocol/text/visible-text.ts';
import { describeInWords } from '../../cron/schedule/schedule-words.ts';
import { describeDuration } from '../../duration.ts';
import { type Here, toLocal } from '../local-time.ts';
import { toTextTable } from '../text-table.ts';
import { jobName, toNextRun, toStatus } from './job-table.ts';

/** All fields of one job, followed by its message. */
export async function toJobDetail(job: CronExtendedJob, here: Here): Promise<string> {
  const { id, schedule, sessionTarget, wakeMode, state, misfire, payload } = job;
  const isMain = sessionTarget === 'main';
  const { lastRunAtMs, lastScheduledAtMs, lastError } = state;
  const lastMs = lastRunAtMs ?? lastScheduledAtMs;
  const facts: [string, string | undefined][] = [
    ['Name', jobName(job)],
    ['Id', id],
    ['Schedule', await describeInWords(schedule, here.tz)],
    ['Next run', toNextRun(job, here)],
    ['Status', toStatus(job)],
    ['Last run', lastMs === undefined ? 'never' : toLocal(lastMs, here)],
    ['Last error', lastError],
    ['Where', isMain ? 'in the main conversation' : `in a separate conversation, cron:${id}`],
    ['Machine', job.nodeId],
    ['Wake', `notifies the main conversation ${wakeMode === 'now' ? 'at once' : 'with its next turn'}`],
    ['Prefix', job.isolation?.postToMainPrefix],
    ['Misfire', toMisfireWords(misfire)],
    ...toTurnFacts(job, payload),
    ...(job.notices ?? []).map(({ text }): [string, string] => ['Note', text]),
    ['Afterwards', job.deleteAfterRun ? 'deleted after its first success' : undefined],
  ];
  const rows = facts.flatMap(([name, fact]) => (fact === undefined ? [] : [[name, toVisibleLine(fact)]]));
  return `${toTextTable(rows)}\n${toVisibleText(payload.kind === 'agentTurn' ? payload.message : payload.text)}\n`;
}

/** Fields that only agent turns have. */
function toTurnFacts({ approval, maxRunMs }: CronExtendedJob, payload: CronPayload): [string, string | undefined][] {
  if (payload.kind !== 'agentTurn') return [];
  const { thinking, timeoutSeconds = 600 } = payload;
  return [
    ['Approval', toApprovalWords(approval)],
    ['Thinking', thinking],
    ['Time', `${describeDuration(timeoutSeconds * 1_000)} for the answer, ${describeDuration(maxRunMs)} for the run`],
    ['Deliver', toDeliveryWords(payload)],
  ];
}

/** In the words of `--misfire`. */
function toMisfireWords(misfire: CronMisfire): string {
  if (misfire === 'all') return 'all (the latest 10)';
  if (typeof misfire === 'string') return misfire;
  return 'all' in misfire ? `all=${misfire.all}` : `within ${describeDuration(misfire.within)}`;
}

function toApprovalWords(approval: CronApproval): string {
  if (approval.mode === 'allow') return `allow ${approval.tools.join(', ')}`;
  if (approval.mode === 'deny' || approval.timeoutMs === undefined) return approval.mode;
  return `wait ${describeDuration(approval.timeoutMs)}`;
}

function toDeliveryWords(turn: Extract<CronPayload, { kind: 'agentTurn' }>): string | undefined {
  const { deliver, channel = 'last', to, bestEffortDeliver } = turn;
  if (!deliver) return undefined;
  return `to ${channel}${to === undefined ? '' : `, ${to}`}${bestEffortDeliver ? '; no error if that fails' : ''}`;
}
