import type { Told, UserMessage } from '../message.ts';
import { type Now, toldBy } from './prefix.ts';
import { dateWords, instructionText, sandboxWords } from './system-prompt.ts';

/** One change: for the model, and in short for people. */
interface Change {
  model: string;
  people: string;
}

interface Changes {
  message: UserMessage;
  /** For people. */
  note: string;
}

/** The message about what has changed since the model was told; undefined if nothing has. */
export function findChanges(version: string, told: Told, now: Now): Changes | undefined {
  const current = toldBy(now);
  const next: Told = current.model === '' ? { ...current, model: told.model } : current;
  const changes = [
    ...dateChange(told, next),
    ...gitChange(told, next),
    ...modelChange(told, next),
    ...sandboxChange(told, next),
    ...toolChanges(told, { current: next.tools, definitions: now.tools }),
    ...instructionChanges(told, now),
  ];
  if (changes.length === 0) return undefined;
  const lines = changes.map(({ model }) => `- ${model}`).join('\n');
  const content = `<environment>\nThis has changed:\n${lines}\n</environment>`;
  return {
    message: { role: 'user', content, trusted: true, environment: { version, told: next } },
    note: `The model was told: ${changes.map(({ people }) => people).join('; ')}.`,
  };
}

const both = (text: string): Change => ({ model: `${text}.`, people: text });

const dateChange = (told: Told, next: Told): Change[] =>
  told.date === next.date && told.zone === next.zone ? [] : [both(`the date is now ${dateWords(next)}`)];

const gitChange = (told: Told, { git = null }: Told): Change[] =>
  told.git === undefined || told.git === git
    ? []
    : [both(git === null ? 'the working directory is no longer in a Git repository' : `Git is now at ${git}`)];

const modelChange = (told: Told, next: Told): Change[] =>
  told.model === '' || told.model === next.model ? [] : [both(`the model is now ${next.model}`)];

const sandboxChange = (told: Told, next: Told): Change[] =>
  (told.notSandboxed === null) === (next.notSandboxed === null)
    ? []
    : [
        {
          model: `the sandbox of commands: ${sandboxWords(next.notSandboxed)}`,
          people:
            next.notSandboxed === null ? 'commands now run in the sandbox' : 'commands now run without the sandbox',
        },
      ];

/** The list of tools in the request stays as it was, so the model learns here what its calls do now. */
function toolChanges(
  told: Told,
  { current, definitions }: { current: Told['tools']; definitions: Now['tools'] },
): Change[] {
  const gone = Object.keys(told.tools).filter((name) => current[name] === undefined);
  const added = Object.keys(current).filter((name) => told.tools[name] === undefined);
  const changed = definitions.filter(
    ({ name }) => told.tools[name] !== undefined && told.tools[name] !== current[name],
  );
  return [
    ...gone.map((name) => both(`the tool ${name} is no longer available`)),
    ...added.map((name) => ({
      model: `there is a new tool, ${name}. It can be used only after the person accepts the present tools with /tools accept.`,
      people: `there is a new tool, ${name}, which it can use after /tools accept`,
    })),
    ...changed.map(({ name, parameters }) => ({
      model: `the tool ${name} now takes arguments of this schema: ${JSON.stringify(parameters)}`,
      people: `the tool ${name} takes other arguments`,
    })),
  ];
}

function instructionChanges(told: Told, { sight }: Now): Change[] {
  const { files } = sight.instructions;
  const gone = Object.keys(told.instructions).filter((path) => !files.some((file) => file.path === path));
  const changed = files.filter(({ path, digest }) => told.instructions[path] !== digest);
  return [
    ...gone.map((path) => ({
      model: `${path} is gone or no longer trusted: its instructions no longer apply.`,
      people: `the instructions in ${path} no longer apply`,
    })),
    ...changed.map((file) => {
      const isNew = told.instructions[file.path] === undefined;
      return {
        model: `${isNew ? 'there are new instructions' : 'these instructions replace the earlier ones'} of ${file.path}:\n${instructionText(file)}`,
        people: isNew ? `there are instructions in ${file.path}` : `the instructions in ${file.path} have changed`,
      };
    }),
  ];
}
