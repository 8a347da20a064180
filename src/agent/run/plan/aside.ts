import type { AssistantMessage, Message } from '../../message.ts';
import type { Model, ModelRequest, ToolDefinition, Usage } from '../../providers/model.ts';
import { collectAnswer, type Finish } from '../collect-answer.ts';
import { sizeOf, usualTokensOf } from '../limits/call-size.ts';
import { TurnBudget } from '../limits/turn-budget.ts';
import { FamilyChanged } from '../model/run-model.ts';
import type { RunContext } from '../run-context.ts';

/** What a model is asked beside the conversation. */
interface Asked {
  system: string;
  messages: readonly Message[];
  tools: readonly ToolDefinition[];
}

export interface AsideAnswer {
  message: AssistantMessage;
  /** How much of the window the request and the answer fill, from 0 to 1; 0 if the window is unknown. */
  fullness: number;
}

/**
 * Asks the model of the run something that does not belong to the conversation: nothing of it is stored with its messages, and
 * its tokens count for the run and its budgets. Throws ProviderError and BudgetUsedUp.
 */
export async function askAside(run: RunContext, asked: Asked): Promise<AsideAnswer> {
  const budget = new TurnBudget(run);
  const reserve = (model: Model) =>
    budget.reserve({ model, size: sizeOf(asked.messages, model, Buffer.byteLength(asked.system)), isSummary: true });
  let used: Usage | undefined;
  try {
    const model = await run.settings.model(reserve);
    const reserved = await reserve(model);
    if (reserved.reserved)
      await run.recorder.record({ ...reserved, events: [{ type: 'ws_state', ws_id: run.wsId, state: 'running' }] });
    const { message, finish } = await answerOf(run, model, asked);
    const { provider, modelId, price } = model;
    used = usageOf(message, { finish, budget });
    await run.recorder.record({ summarized: { usage: used, model: { provider, modelId, ...(price && { price }) } } });
    const { size } = run.window.windows.of(model);
    return { message, fullness: size === 0 ? 0 : (used.promptTokens + used.completionTokens) / size };
  } finally {
    budget.release(used);
  }
}

async function answerOf(
  run: RunContext,
  model: Model,
  asked: Asked,
): Promise<{ message: AssistantMessage; finish: Finish | undefined }> {
  const { effort, sampling } = run.settings;
  const request: ModelRequest = {
    system: asked.system,
    messages: asked.messages,
    tools: asked.tools,
    effort,
    typedByPerson: false,
    ...(sampling.temperature !== undefined && { temperature: sampling.temperature }),
  };
  const read = async (messages: readonly Message[]) => {
    const answer = collectAnswer({ emit: () => undefined }); // only the plan is for people
    for await (const part of model.stream({ ...request, messages }, run.signal)) answer.take(part);
    run.signal.throwIfAborted();
    return answer.whole();
  };
  try {
    return await read(asked.messages);
  } catch (error) {
    if (!(error instanceof FamilyChanged)) throw error;
    return read(asked.messages.map(withoutMakersData));
  }
}

/** What one maker signed means nothing to another. */
function withoutMakersData(message: Message): Message {
  if (message.role !== 'assistant') return message;
  const { reasoning: _, providerData: __, ...rest } = message;
  return rest;
}

/** Some servers report no usage. For a budget it is then estimated. */
function usageOf(
  message: AssistantMessage,
  { finish, budget: { expected } }: { finish: Finish | undefined; budget: TurnBudget },
): Usage {
  const usage = finish?.usage ?? { promptTokens: 0, completionTokens: 0, cacheCreationTokens: 0, cacheReadTokens: 0 };
  if (!expected || usage.promptTokens + usage.completionTokens > 0) return usage;
  return { ...expected, completionTokens: usualTokensOf(message) };
}
