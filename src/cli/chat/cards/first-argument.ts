/** Tools put the most important argument first: its text, from stored arguments in JSON; empty without one. */
export function firstArgument(args: string): string {
  try {
    const value: unknown = JSON.parse(args);
    const values = typeof value === 'object' && value !== null ? Object.values(value) : [];
    return values.find((text): text is string => typeof text === 'string') ?? '';
  } catch {
    return ''; // malformed: the call failed
  }
}
