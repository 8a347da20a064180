import { systemTimers } from '../../../protocol/client/timers.ts';
import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import { wordsOf } from '../../../protocol/words-of.ts';
import { hasQuestions } from '../chat/answers/typed-answers.ts';
import { isDecidedAlready } from '../decided-already.ts';
import type { Question } from '../terminal/question-lines.ts';
import { untilAnswered } from '../until-answered.ts';
import { type ApproveChoice, type Decision, decideByPolicy } from './approval-policy.ts';
import { askPerson } from './ask-person.ts';
import { createGivenAnswers } from './given-answers.ts';
import type { RunOutput } from './run-output.ts';

interface ApprovalsDeps {
  client: Pick<GatewayClient, 'call'>;
  choice: ApproveChoice;
  /** Answers to questions of the agent, in the order in which it asks. */
  answers: readonly string[];
  output: Pick<RunOutput, 'onQuestion' | 'onWholeQuestion'>;
  onInterrupt(): void;
}

/** Answers the approvals of a run according to `--approve` and `--answer`, and counts the denied ones. */
export function createApprovals({ client, choice, answers, output, onInterrupt }: ApprovalsDeps) {
  let denied = 0;
  const given = createGivenAnswers(answers);
  const asking = new Map<string, AbortController>();
  const decide = async (approvalId: string, decision: Decision) => {
    await untilAnswered(() => client.call('approval.resolve', { approvalId, ...decision })).catch((error: unknown) => {
      if (!isDecidedAlready(error)) process.stderr.write(`headgate: ${wordsOf(error)}\n`);
    });
  };
  const ask = async (question: Question) => {
    const { approvalId } = question;
    const over = new AbortController();
    asking.set(approvalId, over);
    const showAll = () => output.onWholeQuestion(question);
    const { stdin, stderr } = process;
    const nowMs = () => systemTimers.now();
    const shown = { input: stdin, output: stderr, showAll, nowMs };
    const decision = await askPerson(question, { ...shown, signal: over.signal });
    if (decision === 'interrupt') onInterrupt();
    else if (decision !== undefined) await decide(approvalId, decision);
  };
  return {
    denied: () => denied,
    onQuestion(question: Question) {
      output.onQuestion(question);
      const canAsk = process.stdin.isTTY && process.stderr.isTTY;
      const decision = decideByPolicy(choice, question, { canAsk, answers: given });
      if (decision !== 'ask' && hasQuestions(question) && !decision.approved)
        process.stderr.write('headgate: Nobody could answer. Answer with --answer TEXT, or run in a terminal.\n');
      void (decision === 'ask' ? ask(question) : decide(question.approvalId, decision));
    },
    onResolved({ approval_id, approved }: { approval_id: string; approved: boolean }) {
      if (!approved) denied += 1;
      asking.get(approval_id)?.abort();
    },
    close() {
      for (const over of asking.values()) over.abort();
    },
  };
}
