import { z } from 'zod';
import type { Tool } from '../../tools/tool.ts';
import { toConsentOutcome } from '../call-tool.ts';
import { toToolName } from '../tool-name.ts';
import type { ConsentProblem } from './consent-problem.ts';
import type { CallAccount } from './user-sessions.ts';

/**
 * Stands for the tools of a server that nobody has connected an account to: only with one does it say which tools it has. It
 * gives the model the address for the person.
 */
export function createConnectTool(
  server: string,
  {
    accountFor,
    ask,
  }: { accountFor(wsId: string): Promise<CallAccount>; ask(user: string): Promise<ConsentProblem | undefined> },
): Tool<object> {
  const name = toToolName(server, 'connect');
  return {
    name,
    description: `The tool server ${server} is used with an account of each person, and nobody has connected one yet, so its tools are not known. Call this to get the address at which the person can connect an account.`,
    parameters: z.strictObject({}),
    readOnly: true,
    safeToRepeat: true,
    prepare: async (_, { wsId }) => ({
      kind: 'ready',
      subject: server,
      preview: '',
      approvalLabel: name,
      needsApproval: false,
      stored: 'read',
      async execute() {
        const account = await accountFor(wsId);
        if (account.kind === 'missing') return toConsentOutcome(await account.note());
        // It may be that the account lacks a right, so that the server does not even tell its tools.
        const problem = await ask(account.user);
        if (problem) return toConsentOutcome(problem);
        return { output: `An account is connected. ${THEN}`, outcome: 'done' };
      },
    }),
  };
}

const THEN = 'The tools of the server were asked for; you are told of them with the next message of the person.';
