import type { Evidence, Finding } from '../evidence.ts';

/** No secret is in what clients receive, in the database, in files or in what the daemon prints (I10). */
export function* noSecret({ secrets, streams, sockets, calls, artefacts }: Evidence): Generator<Finding> {
  const received = [
    ...streams.map(({ reader, frames }) => ({ name: `stream of ${reader}`, text: JSON.stringify(frames) })),
    // Messages from a client contain its own token.
    ...sockets.map(({ reader, frames }) => ({
      name: `socket of ${reader}`,
      text: JSON.stringify(frames.filter(({ way }) => way === 'in')),
    })),
    ...calls.map(({ method, answers }) => ({ name: `answer to ${method}`, text: JSON.stringify(answers) })),
  ];
  for (const { name, text } of [...received, ...artefacts]) {
    for (const secret of secrets)
      if (text.includes(secret.value)) yield { what: `${secret.name} is revealed`, where: name };
  }
}
