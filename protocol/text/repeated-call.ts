/** Why a person is asked about a call that had the same result this many times; for page and terminal. */
export const repeatedCall = (times: number): string =>
  `In this run, the agent already made the same call ${times} ${times === 1 ? 'time' : 'times'}, with the same result.`;
