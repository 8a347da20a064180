/** The file that is asked about in a round. It appears in every request of the round. */
export const raceFile = (round: number): string => `race-${round}.txt`;

/** The file that the latest request of the agent or its judge is about. */
export function parseModelQuestion(messages: readonly { content: unknown }[]): string {
  const all = [...JSON.stringify(messages).matchAll(/race-\d+\.txt/g)];
  return all.at(-1)?.[0] ?? '';
}
