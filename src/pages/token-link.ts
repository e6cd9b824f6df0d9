// Links whose token is in the fragment, which no server log sees: a small script puts it into the form, and without scripts it is typed or
// pasted. Only the post of the form uses it up, since programs that look at links press no button.
import { type Html, html } from '../platform/html.ts';

export const tokenCharsMax = 100;

/** Takes the token from the fragment into the form, and out of the address. */
export const takeTokenScript = `const field=document.getElementById('token'),take=()=>{if(location.hash.length>1){field.value=location.hash.slice(1);field.closest('div').hidden=true;history.replaceState(null,'',location.pathname)}};take();addEventListener('hashchange',take)`;

/** The field the script fills. */
export const tokenField = (label: string, value: string): Html => html`<div><label for="token">${label}</label>
<input id="token" name="token" type="text" value="${value}" required maxlength="${tokenCharsMax}" autocomplete="off" spellcheck="false"></div>`;
