import { type Run, sendScripted } from '../scripted-turns.ts';
import { removeSkill, SKILLS, skillDescription, skillText, writeSkill } from './skill-files.ts';

/** Skills come, change and go while the conversation is there. The model is told by a further message. */
export const changeSkills: Run = async (talk, random) => {
  const { machine, witness } = talk;
  const [name, version] = [random.pick(SKILLS), talk.nextNumber()];
  const isGone = random.chance(0.2);
  if (isGone) removeSkill(machine.dir, name);
  else writeSkill(machine.dir, name, version);
  if (random.chance(0.2)) await machine.crashAnew();
  await sendScripted(talk, random);
  if (!isGone && !talk.isStopped) witness.mustBeInLatest(skillDescription(name, version));
};

/** A person chooses the skill that holds in this conversation, and perhaps ends that. The model gets its text. */
export const chooseSkill: Run = async (talk, random) => {
  const { machine, witness } = talk;
  const [name, version] = [random.pick(SKILLS), talk.nextNumber()];
  writeSkill(machine.dir, name, version);
  await talk.command(`/skill ${name}`);
  if (random.chance(0.2)) await machine.crashAnew();
  await sendScripted(talk, random);
  const isTold = !talk.isStopped;
  if (isTold) witness.mustBeInLatest(skillText(name, version));
  if (random.chance(0.5)) return;
  const cuts = await talk.cuts();
  await talk.command('/skill clear');
  await sendScripted(talk, random);
  // A cut also removes the skill, and then nothing says that it no longer holds.
  if (isTold && !talk.isStopped && (await talk.cuts()) === cuts)
    witness.mustBeInLatest(`The skill ${name} no longer holds`);
};
