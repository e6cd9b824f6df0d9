// Flags of a command made from a table of fields: every field that names one, with the choices of its kind. JSON has none.
import { type Command, Option } from 'commander';
import type { Field, Fields, Json } from '../../domain/field.ts';
import type { Options } from './administrator.ts';

const argumentsOf: Readonly<Partial<Record<Field['kind']['input'], string>>> = {
  text: ' <text>',
  lines: ' <values...>',
  select: ' <name>',
  checks: ' <names...>',
  checkbox: '',
  number: ' <number>',
};

const flagged = (table: Fields): readonly Field[] =>
  Object.values(table).filter(({ kind, about }) => about.cli !== undefined && argumentsOf[kind.input] !== undefined);

/** Adds the flags of the table to a command. */
export function addFieldFlags(command: Command, table: Fields): Command {
  for (const one of flagged(table)) command.addOption(optionOf(one));
  return command;
}

/** What the flags say, as the JSON of the fields; what was not given is left out. */
export function givenFlags(table: Fields, options: Options): Json {
  const given = flagged(table).map((one) => {
    const value = options[optionOf(one).attributeName()];
    return [one.name, value !== undefined && one.kind.input === 'number' ? Number(value) : value] as const;
  });
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}

/** The flag of a field as it is typed, or its name when it has none. */
export function flagOf(table: Fields, name: string): string {
  const found = flagged(table).find((one) => one.name === name);
  return found === undefined ? name : `--${found.about.cli}`;
}

function optionOf(one: Field): Option {
  const option = new Option(`--${one.about.cli}${argumentsOf[one.kind.input]}`, one.about.label.toLowerCase());
  return one.kind.names === undefined ? option : option.choices(one.kind.names);
}
