import type { GoogleBody } from './google-wire.ts';
import { event, pieces, seal } from './seal.ts';
import { type ScriptedAnswer, tokensIn } from './wire.ts';

/** Signs the first call of a step. */
export const callSeal = ({ name, args }: { name: string; args?: unknown }): string => seal('call', name, args);

/** An answer as Gemini streams it. */
export function answerAsGoogle(body: GoogleBody, answer: ScriptedAnswer): string[] {
  const { thoughts = '', text = '', calls = [], isCut } = answer;
  const parts: object[][] = [
    ...pieces(thoughts).flatMap((piece) => (piece === '' ? [] : [[{ text: piece, thought: true }]])),
    ...pieces(text).flatMap((piece) => (piece === '' ? [] : [[{ text: piece }]])),
    ...(calls.length > 0 ? [calls.map(toCallPart)] : []),
  ];
  const usage = { promptTokenCount: tokensIn(body), candidatesTokenCount: tokensIn(answer) };
  const metadata = {
    usageMetadata: { ...usage, totalTokenCount: usage.promptTokenCount + usage.candidatesTokenCount },
  };
  const last = {
    content: { parts: [{ text: '' }], role: 'model' },
    index: 0,
    finishReason: isCut ? 'MAX_TOKENS' : 'STOP',
  };
  return [
    ...parts.map((some) => event({ candidates: [{ content: { parts: some, role: 'model' }, index: 0 }], ...metadata })),
    event({ candidates: [last], ...metadata }),
  ];
}

/** Ids are given by the client's library. Only the first call of a step is signed. */
function toCallPart({ name, arguments: args }: { name: string; arguments: object }, index: number): object {
  return { functionCall: { name, args }, ...(index === 0 && { thoughtSignature: callSeal({ name, args }) }) };
}
