import { applyRules } from './apply-rules.ts';
import type { Evidence, Rule, Violation } from './evidence.ts';
import { acknowledged, cancelled, decisionsKept, oneAnswerPerKey } from './rules/answers.ts';
import { decidedBySomebody, oneDecision } from './rules/approvals.ts';
import { answerFollowed, budgetKept, oneLastAnswer, oneQuestion } from './rules/budgets.ts';
import { cutsInPlace, cutsTold, resendsKept, sentAgain, takenBackOnce } from './rules/cuts.ts';
import { effectsOfStarts, nothingOutlives } from './rules/effects.ts';
import { denseLog, denseMessages, nothingForgotten, silentBetweenRuns } from './rules/log.ts';
import { withinBudget } from './rules/memory.ts';
import { agentNumbers, broadcastNumbers, cumulativeText, oneChatEnd } from './rules/numbering.ts';
import { openings, questionsShown, resumption } from './rules/resumption.ts';
import { allOver, oneEnd, oneRunAtATime } from './rules/runs.ts';
import { noSecret } from './rules/secrets.ts';
import { onceInOrder, readToTheEnd, seenIsOnDisk } from './rules/seen.ts';
import { countedOnce, countedWhole, grantedOnce, roomForCalls, sharedKept } from './rules/spending.ts';
import { steeredOnce, steeredToModel } from './rules/steering.ts';
import { oneResultPerCall, permittedStarts } from './rules/tools.ts';
import { transcript } from './rules/transcript.ts';
import { answersKept, backgroundEndsOnce, endToldOnce, wholePatches } from './rules/uses.ts';
import { agentEndsOnce, agentsEndFirst, denseAgentMessages, oneAgentPerCall } from './rules/work/agents.ts';
import { childrenOfResults, eachChildOnce, saidByChildren, toldOnce } from './rules/work/children.ts';
import { memoriesKept } from './rules/work/memories.ts';
import { plansAsDecided, plansInRounds } from './rules/work/plans.ts';
import { watchEndsOnce, watchToldOnce } from './rules/work/watches.ts';

/** The rules that need only the database. */
const DISK_RULES = {
  'the offsets of a log have no gaps': denseLog,
  'the message numbers have no gaps': denseMessages,
  'the log has no events between runs': silentBetweenRuns,
  'the log agrees with the stored messages': transcript,
  'a run has one terminal record': oneEnd,
  'one run at a time': oneRunAtATime,
  'an approval has one decision': oneDecision,
  'a tool starts once per permission': permittedStarts,
  'a tool call has one result': oneResultPerCall,
  'cuts are numbered and in place': cutsInPlace,
  'the log agrees with the cuts': cutsTold,
  'a message sent again follows its rewind': sentAgain,
  'a budget asks one question': oneQuestion,
  'the answer about a budget is followed': answerFollowed,
  'a budget is exceeded by one call at most': budgetKept,
  'a declined budget leaves one last answer': oneLastAnswer,
  'a message that steers is answered once': steeredOnce,
  'a background command ends once': backgroundEndsOnce,
  'the end of a background command is told once': endToldOnce,
  'a question gets the answer that was decided': answersKept,
  'a sub-agent ends once': agentEndsOnce,
  'a call starts one sub-agent and gets its end': oneAgentPerCall,
  'sub-agents end before their run': agentsEndFirst,
  'the messages of a sub-agent have no gaps': denseAgentMessages,
  'a plan is asked about in rounds': plansInRounds,
  'a plan counts as it was decided': plansAsDecided,
  'a watch ends once': watchEndsOnce,
  'the result of a watch is told once': watchToldOnce,
} as const satisfies Record<string, Rule>;

/** Every rule, by the sentence it checks. The rules of schedules are in cron-drill and cron-simulation. */
export const RULES = {
  ...DISK_RULES,
  'stored data stays': nothingForgotten,
  'every event a client received is on disk': seenIsOnDisk,
  'every event is received once and in order': onceInOrder,
  'readers receive the last event': readToTheEnd,
  'a stream begins with its position': openings,
  'a new stream shows the pending question': questionsShown,
  'a stream resumes exactly or says why not': resumption,
  'events of a run are numbered': agentNumbers,
  'broadcasts are numbered': broadcastNumbers,
  'a run has one final chat event': oneChatEnd,
  'sampled text grows by its deltas': cumulativeText,
  'no run is open at rest': allOver,
  'every decision was made by someone': decidedBySomebody,
  'accepted messages are kept': acknowledged,
  'a key has one answer': oneAnswerPerKey,
  'a key takes back once': takenBackOnce,
  'an accepted retry sends again': resendsKept,
  'the model gets a message that steers once, after the results': steeredToModel,
  'an answered decision is stored': decisionsKept,
  'an answered cancel has ended the run': cancelled,
  'no call begins without room in its budget': roomForCalls,
  'a shared budget is exceeded by one call at most': sharedKept,
  'an answer is counted once': countedOnce,
  'all tokens of answers are counted': countedWhole,
  'a person grants once': grantedOnce,
  'every side effect has exactly one start': effectsOfStarts,
  'no process outlives its run': nothingOutlives,
  'a patch is applied completely or its outcome is unknown': wholePatches,
  'what an agent remembers is kept': memoriesKept,
  'a call has each of its children made once': eachChildOnce,
  'the children of a result are there': childrenOfResults,
  'a child gets each message of its coordinator once': toldOnce,
  'a coordinator hears what its children said': saidByChildren,
  'memory stays within its budget': withinBudget,
  'secrets stay secret': noSecret,
} as const satisfies Record<string, Rule>;

export type RuleName = keyof typeof RULES;

/** They say what came first by the times that daemons and clients noted. */
const BY_THE_CLOCK: ReadonlySet<string> = new Set<RuleName>([
  'a budget asks one question',
  'the answer about a budget is followed',
  'a budget is exceeded by one call at most',
  'an answered cancel has ended the run',
  'no call begins without room in its budget',
  'a shared budget is exceeded by one call at most',
  'no process outlives its run',
]);

/** All violations in the recorded evidence. */
export const check = (evidence: Evidence): Violation[] =>
  applyRules(RULES, evidence).filter(({ rule }) => !(evidence.areClocksWrong && BY_THE_CLOCK.has(rule)));

/** All violations in a database, regardless of its readers and writers. */
export const checkDisk = (disk: Evidence['disk']): Violation[] => applyRules(DISK_RULES, { ...NOTHING_ELSE, disk });

const NOTHING_ELSE = {
  streams: [],
  sockets: [],
  calls: [],
  effects: [],
  boots: [],
  memory: { budgetBytes: 0, samples: [] },
  secrets: [],
  artefacts: [],
  settled: false,
};
