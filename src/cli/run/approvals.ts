import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import { wordsOf } from '../../../protocol/words-of.ts';
import type { Question } from '../terminal/question-lines.ts';
import { untilAnswered } from '../until-answered.ts';
import { type ApproveChoice, decideByPolicy } from './approval-policy.ts';
import { askPerson } from './ask-person.ts';
import type { RunOutput } from './run-output.ts';

interface ApprovalsDeps {
  client: Pick<GatewayClient, 'call'>;
  choice: ApproveChoice;
  output: Pick<RunOutput, 'onQuestion' | 'onWholeQuestion'>;
  onInterrupt(): void;
}

/** Answers the approvals of a run according to `--approve`, and counts the denied ones. */
export function createApprovals({ client, choice, output, onInterrupt }: ApprovalsDeps) {
  let denied = 0;
  const asking = new Map<string, AbortController>();
  const decide = async (approvalId: string, decision: { approved: boolean; feedback?: string | undefined }) => {
    await untilAnswered(() => client.call('approval.resolve', { approvalId, ...decision })).catch((error: unknown) => {
      process.stderr.write(`headgate: ${wordsOf(error)}\n`);
    });
  };
  const ask = async (question: Question) => {
    const { approvalId } = question;
    const over = new AbortController();
    asking.set(approvalId, over);
    const write = (text: string) => void process.stderr.write(text);
    const showAll = () => output.onWholeQuestion(question);
    const verdict = await askPerson({ input: process.stdin, write, showAll, signal: over.signal });
    if (verdict === 'interrupt') onInterrupt();
    else if (verdict !== undefined) await decide(approvalId, { approved: verdict === 'approve' });
  };
  return {
    denied: () => denied,
    onQuestion(question: Question) {
      output.onQuestion(question);
      const canAsk = process.stdin.isTTY && process.stderr.isTTY;
      const decision = decideByPolicy(choice, question, { canAsk });
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
