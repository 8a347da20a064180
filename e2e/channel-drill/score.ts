import type { ChatEvidence } from '../checker/channels/chat-evidence.ts';

/** The counts of a drill. */
export interface ChannelScore {
  kills: number;
  /** After a random database statement, while a message was being sent, while the daemon started, and at any time. */
  killsAt: Record<KillMood, number>;
  messages: number;
  parts: number;
  ambiguous: number;
  /** Messages whose ids nobody knows: ambiguous parts that arrived, and first copies with the policy `retry`. */
  arrived: number;
  /** Answers that were shown in progress. */
  grown: number;
  notices: number;
  /** Questions that were decided, presses, and how many of those decided nothing. */
  questions: number;
  presses: number;
  inVain: number;
  /** Updates that were stored and not handled when a daemon died. */
  leftInbound: number;
  /** Parts whose request had been written when a daemon died. */
  leftOutbound: number;
}

export type KillMood = 'statement' | 'sending' | 'start' | 'time';

export const NO_SCORE: ChannelScore = {
  ...{ kills: 0, killsAt: { statement: 0, sending: 0, start: 0, time: 0 }, messages: 0, parts: 0 },
  ...{ grown: 0, questions: 0, presses: 0, inVain: 0 },
  ...{ ambiguous: 0, arrived: 0, notices: 0, leftInbound: 0, leftOutbound: 0 },
};

/** The score plus the counts of a chapter. */
export function addChapter(score: ChannelScore, evidence: ChatEvidence): ChannelScore {
  const { said, chunks, shown, presses, operator, disk } = evidence;
  const questions = disk.workstreams.flatMap(({ approvals }) => approvals).length;
  const known = new Set(chunks.map(({ destination, provider_id: id }) => `${destination} ${id}`));
  const ambiguous = chunks.filter(({ state }) => state === 'ambiguous').length;
  return {
    ...score,
    messages: score.messages + said.length,
    parts: score.parts + chunks.length,
    questions: score.questions + questions,
    presses: score.presses + presses.length,
    inVain: score.inVain + presses.length - (questions - operator.length),
    ambiguous: score.ambiguous + ambiguous,
    arrived: score.arrived + shown.filter(({ chat, messageId }) => !known.has(`${chat} ${messageId}`)).length,
    notices: score.notices + shown.filter(({ text }) => text.startsWith('⚠')).length,
  };
}

export function toChannelScoreCard(score: ChannelScore): string {
  const { kills, killsAt, messages, parts, ambiguous, arrived, notices, leftInbound, leftOutbound } = score;
  const { grown, questions, presses, inVain } = score;
  const at = `${killsAt.statement} after a statement, ${killsAt.sending} while sending, ${killsAt.start} while starting, ${killsAt.time} at any time`;
  const rows: [string, string | number][] = [
    ['kills', `${kills} (${at})`],
    ['messages', messages],
    [
      'parts',
      `${parts}; ${ambiguous} ambiguous, ${arrived} messages of unknown id; ${notices} notices; ${grown} shown in progress`,
    ],
    ['questions', `${questions} decided; ${presses} presses, ${inVain} in vain`],
    ['left behind', `${leftInbound} updates that were not handled, ${leftOutbound} parts on their way`],
  ];
  return rows.map(([name, value]) => `${name.padEnd(14)}${value}\n`).join('');
}
