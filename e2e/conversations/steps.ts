import type { Random } from '../checker/random.ts';
import { watchResult } from './besides/watch-step.ts';
import { closeAll, haveWork, stopAll, trustOrRestrict, writeToChild } from './coordinators/lead-steps.ts';
import { elsewhere } from './elsewhere-step.ts';
import { endBackground, undoFiles } from './file-steps.ts';
import { askForData } from './knowledge/data-step.ts';
import { changeSkills, chooseSkill } from './knowledge/skill-steps.ts';
import { ALIASES, familyOf, hasFallback } from './model-servers.ts';
import { queueing, steering } from './queue-steps.ts';
import { answerOf, type Run, refusalWith, scriptTurn, sendScripted } from './scripted-turns.ts';
import { takingBack } from './taking-back-steps.ts';
import type { Talk } from './talk.ts';

interface Step {
  name: string;
  /** How often, compared with the others. */
  weight: number;
  run: Run;
}

const DAY_MS = 86_400_000;

const badRequest = { status: 400, body: { error: { message: 'The request was rejected.', code: 400, status: 'X' } } };
const noModel = { status: 404, body: { error: { message: 'The model does not exist.', code: 404, status: 'X' } } };

/** A model of the same family, or of another one. */
async function switchModel(talk: Talk, random: Random, isSameFamily: boolean): Promise<void> {
  const now = await talk.alias();
  const others = ALIASES.filter((alias) => alias !== now && (familyOf(alias) === familyOf(now)) === isSameFamily);
  if (others.length > 0) await talk.update({ model: random.pick(others) });
  await sendScripted(talk, random);
}

async function upgrade(talk: Talk, random: Random): Promise<void> {
  const { release } = talk.surroundings;
  release.version += 1;
  if (random.chance(0.5)) release.hasDepth = !release.hasDepth;
  if (random.chance(0.5)) release.hasThird = !release.hasThird;
  if (random.chance(0.5)) await talk.machine.restartAnew();
  else await talk.machine.crashAnew();
  await sendScripted(talk, random);
}

/** A cut, if the tools have changed. The next request has the present ones in any case. */
async function acceptTools(talk: Talk, random: Random): Promise<void> {
  await talk.command('/tools');
  await talk.command('/tools accept');
  if (random.chance(0.3)) await talk.machine.crashAnew();
  await sendScripted(talk, random);
  const { version } = talk.surroundings.release;
  if (!talk.witness.isInLatestBefore(`Version ${version} of look.`)) talk.witness.violate('not the accepted tools');
}

async function resume(talk: Talk, random: Random): Promise<void> {
  const { machine } = talk;
  const known = new Set((await machine.call('workstream.saved', {})).workstreams.map(({ wsId }) => wsId));
  await talk.command('/new');
  talk.witness.prefix.beginAnew();
  await sendScripted(talk, random);
  const { workstreams } = await machine.call('workstream.saved', {});
  const saved = workstreams.find(({ wsId }) => !known.has(wsId));
  if (!saved) return;
  await talk.command(`/resume ${saved.name}`);
  talk.witness.prefix.beginAnew();
  await sendScripted(talk, random);
}

/** An answer that ends at the output limit: in its words, before them, or in its calls. */
async function cutShort(talk: Talk, random: Random): Promise<void> {
  const whole = answerOf(talk, random, random.pick([0, 0, 1])).answer ?? {};
  const { text: _, ...wordless } = whole;
  talk.witness.script({ answer: { ...(random.chance(0.4) ? wordless : whole), isCut: true } });
  await sendScripted(talk, random);
}

async function failing(talk: Talk, random: Random): Promise<void> {
  if (random.chance(0.5)) talk.witness.script(answerOf(talk, random, 2));
  talk.witness.script({ fail: badRequest });
  const message = talk.nextMessage();
  await sendFailing(talk, message);
  talk.witness.forgetScript();
  await sendScripted(talk, random);
}

async function sendFailing(talk: Talk, message: string): Promise<void> {
  const { wsId, machine } = talk;
  talk.isStopped = true;
  await machine.call('workstream.send', { wsId, message });
  await talk.settle();
  await talk.checkEnd();
}

/** The server does not read one of the images. The daemon repeats the request without the new ones. */
async function imageRefused(talk: Talk, random: Random): Promise<void> {
  const ids = await talk.upload(random.int(1, 3), 'image');
  talk.witness.script(refusalWith('Could not process image'));
  scriptTurn(talk, random);
  await talk.send(talk.nextMessage(), ids);
  if (random.chance(0.3)) await talk.machine.crashAnew();
  await sendScripted(talk, random);
}

/** The server no longer reads an image that it has read before, in any request from now on. People learn its name. */
async function earlierImageRefused(talk: Talk, random: Random): Promise<void> {
  const { witness, wsId, machine } = talk;
  if (talk.images.length === 0) await sendFiles(talk, random);
  if (talk.images.length > 0) witness.unreadableImages.add(random.pick(talk.images));
  const ids = await talk.upload(random.pick([0, 0, 1, 3]), 'image');
  scriptTurn(talk, random);
  await talk.send(talk.nextMessage(), ids);
  const { notes = [] } = await machine.call('workstream.history', { wsId });
  const said = notes.map((note) => ('message' in note ? note.message : '')).join('\n');
  for (const name of witness.unreadableImages.refusedFor()) {
    if (!said.includes(name)) witness.violate(`nobody was told of ${name}`);
  }
}

/** The server no longer accepts earlier reasoning. */
async function reasoningRefused(talk: Talk, random: Random): Promise<void> {
  await sendScripted(talk, random);
  talk.witness.script(refusalWith('messages.1.content.0: The block is bound to a different conversation'));
  scriptTurn(talk, random);
  await talk.send(talk.nextMessage());
}

async function sendFiles(talk: Talk, random: Random): Promise<void> {
  const isImage = random.chance(0.8);
  const ids = await talk.upload(isImage ? random.int(1, 8) : 1, isImage ? 'image' : 'text');
  scriptTurn(talk, random);
  await talk.send(random.chance(0.3) ? '' : talk.nextMessage(), ids);
}

async function interrupted(talk: Talk, random: Random): Promise<void> {
  const calls = random.pick([0, 0, 2]);
  if (random.chance(0.4)) talk.witness.script(answerOf(talk, random, 2));
  talk.witness.script({ ...answerOf(talk, random, calls), holdAfter: random.int(0, 6) });
  await talk.send(talk.nextMessage());
}

/** A message that failed is removed, perhaps with others after it. */
async function removeFailed(talk: Talk, random: Random): Promise<void> {
  const { machine, wsId } = talk;
  const message = talk.nextMessage();
  talk.witness.script({ fail: badRequest });
  await sendFailing(talk, message);
  talk.witness.forgetScript();
  if (random.chance(0.4)) await sendScripted(talk, random);
  const { messages } = await machine.call('workstream.history', { wsId });
  const failed = messages.find(({ content }) => content === message);
  if (failed?.seq === undefined || !failed.failed) return;
  await machine.call('workstream.remove', { wsId, seq: failed.seq });
  if (random.chance(0.3)) await talk.machine.crashAnew();
  await sendScripted(talk, random);
  talk.unexpected.push(message);
  talk.checkExpected({ isWhole: false });
}

/** The context begins at a later message from now on. */
async function beginLater(talk: Talk, random: Random): Promise<void> {
  const { machine, wsId } = talk;
  const { snapshot } = await machine.call('workstream.get', { wsId });
  const { sessionKey: key } = snapshot.workstream;
  await machine.call('sessions.compact', { key, maxLines: random.int(1, 16) });
  if (random.chance(0.2)) await talk.machine.crashAnew();
  await sendScripted(talk, random);
}

const STEPS: Step[] = [
  { name: 'send', weight: 8, run: sendScripted },
  { name: 'send files', weight: 4, run: sendFiles },
  { name: 'interrupted', weight: 4, run: interrupted },
  { name: 'switch in the family', weight: 2, run: (talk, random) => switchModel(talk, random, true) },
  { name: 'switch the family', weight: 4, run: (talk, random) => switchModel(talk, random, false) },
  {
    name: 'midnight',
    weight: 2,
    async run(talk, random) {
      talk.machine.clock.jump(DAY_MS);
      await sendScripted(talk, random);
    },
  },
  {
    name: 'instructions',
    weight: 2,
    async run(talk, random) {
      talk.surroundings.instructions = random.pick([undefined, 'Be brief.', 'Be kind.']);
      await sendScripted(talk, random);
    },
  },
  { name: 'upgrade', weight: 2, run: upgrade },
  { name: 'accept tools', weight: 2, run: acceptTools },
  {
    name: 'crash',
    weight: 1,
    async run(talk, random) {
      await talk.machine.crashAnew();
      await sendScripted(talk, random);
    },
  },
  {
    name: 'compact',
    weight: 2,
    async run(talk, random) {
      await talk.command('/compact');
      await sendScripted(talk, random);
    },
  },
  { name: 'rewind', weight: 1, run: takingBack('workstream.rewind') },
  { name: 'retry', weight: 1, run: takingBack('workstream.retry') },
  { name: 'undo files', weight: 2, run: undoFiles },
  { name: 'end background', weight: 2, run: endBackground },
  { name: 'watch result', weight: 2, run: watchResult },
  { name: 'edit', weight: 1, run: takingBack('workstream.edit') },
  { name: 'remove', weight: 1, run: removeFailed },
  { name: 'begin later', weight: 2, run: beginLater },
  { name: 'elsewhere', weight: 2, run: elsewhere },
  { name: 'change skills', weight: 2, run: changeSkills },
  { name: 'choose skill', weight: 2, run: chooseSkill },
  { name: 'ask for data', weight: 3, run: askForData },
  { name: 'steer', weight: 2, run: steering },
  { name: 'queue', weight: 1, run: queueing },
  { name: 'resume', weight: 1, run: resume },
  {
    name: 'clear',
    weight: 1,
    async run(talk, random) {
      await talk.command('/clear');
      talk.witness.prefix.beginAnew();
      await sendScripted(talk, random);
    },
  },
  { name: 'cut short', weight: 2, run: cutShort },
  { name: 'failing', weight: 2, run: failing },
  { name: 'image refused', weight: 1, run: imageRefused },
  { name: 'earlier image refused', weight: 2, run: earlierImageRefused },
  { name: 'reasoning refused', weight: 1, run: reasoningRefused },
  {
    name: 'fallback',
    weight: 2,
    async run(talk, random) {
      talk.witness.script({ fail: noModel });
      scriptTurn(talk, random);
      if (hasFallback(await talk.alias())) await talk.send(talk.nextMessage());
      else await sendFailing(talk, talk.nextMessage());
    },
  },
  {
    name: 'nothing said',
    weight: 1,
    async run(talk, random) {
      talk.witness.script({ answer: {} });
      await talk.send(talk.nextMessage());
      await sendScripted(talk, random);
    },
  },
];

/** What only coordinators do, or people with them. */
const LEAD_STEPS: Step[] = [
  { name: 'have work done', weight: 16, run: haveWork },
  { name: 'stop all', weight: 4, run: stopAll },
  { name: 'write to a child', weight: 8, run: writeToChild },
  { name: 'trust or restrict', weight: 4, run: trustOrRestrict },
  { name: 'close all', weight: 4, run: closeAll },
];

/** A random step. */
export function chooseStep(random: Random, { isLead }: { isLead: boolean }): Step {
  const possible = isLead ? [...STEPS, ...LEAD_STEPS] : STEPS;
  let left = random.fraction() * possible.reduce((sum, { weight }) => sum + weight, 0);
  for (const step of possible) {
    left -= step.weight;
    if (left < 0) return step;
  }
  throw new Error('the weights do not add up');
}
