// When so many people would end together that somebody is asked first, of connectors and of directories alike. Pure.
import { endingsUnasked } from '../../contract/limits.ts';

const percentUnasked = 10;

/** @param everybody who ends among them */
export const areManyEndings = (ending: number, everybody: number): boolean =>
  ending > endingsUnasked && ending * 100 > everybody * percentUnasked;
