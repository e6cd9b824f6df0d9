// The scripts that speak to the browser's authenticator, inlined under a page's nonce where a page offers a passkey. They only
// carry options in and a response out; without them the page says to choose another way.
import { passkeyMethod } from '../domain/sign-in/login-methods.ts';

/** base64url to bytes (`u`) and back (`b`): extensions that stand in for an authenticator lack the browser's own toJSON. */
const passkeyCodec = `const u=s=>Uint8Array.from(atob(s.replace(/-/g,'+').replace(/_/g,'/')),c=>c.charCodeAt(0)),b=a=>btoa(String.fromCharCode(...new Uint8Array(a))).replace(/\\+/g,'-').replace(/\\//g,'_').replace(/=+$/,'');`;

/** Signs in: `form[data-passkey]` asks for options, the browser answers, `#passkey-response` carries the answer as a form. */
export const passkeySignInScript = `(()=>{${passkeyCodec}
const d=document,f=d.querySelector('form[data-passkey]'),to=d.querySelector('#passkey-response'),note=d.querySelector('#passkey-alert');
const say=t=>{note.textContent=t;note.hidden=!t};
f.addEventListener('submit',async e=>{e.preventDefault();e.stopPropagation();if(f.dataset.busy)return;
if(!window.PublicKeyCredential){say(f.dataset.unsupported);return}
f.dataset.busy='1';say('');
try{const r=await fetch(f.action,{method:'POST',headers:{accept:'application/json','content-type':'application/json'},body:'{"method":"${passkeyMethod}"}'});
if(r.status===409){location.reload();return}
if(!r.ok)throw r;
const o=(await r.json()).options;o.challenge=u(o.challenge);o.allowCredentials=o.allowCredentials.map(c=>({...c,id:u(c.id)}));
const c=await navigator.credentials.get({publicKey:o}),a=c.response;
to.response.value=JSON.stringify({id:c.id,rawId:b(c.rawId),type:c.type,response:{clientDataJSON:b(a.clientDataJSON),authenticatorData:b(a.authenticatorData),signature:b(a.signature),userHandle:a.userHandle?b(a.userHandle):null},clientExtensionResults:{}});
to.submit()}catch(x){delete f.dataset.busy;say(x&&x.name==='SecurityError'?f.dataset.address:f.dataset.failed)}});
addEventListener('pageshow',()=>delete f.dataset.busy)
})();`;

/** Registers: `form[data-new-passkey]` brings the options, the browser makes the passkey, the form carries its response. */
export const passkeyCreateScript = `(()=>{${passkeyCodec}
const d=document,f=d.querySelector('form[data-new-passkey]'),note=d.querySelector('#passkey-alert');
const say=t=>{note.textContent=t;note.hidden=!t};
f.addEventListener('submit',async e=>{e.preventDefault();if(f.dataset.busy)return;
if(!window.PublicKeyCredential){say(f.dataset.unsupported);return}
f.dataset.busy='1';say('');
try{const o=JSON.parse(f.dataset.options);o.challenge=u(o.challenge);o.user.id=u(o.user.id);o.excludeCredentials=o.excludeCredentials.map(c=>({...c,id:u(c.id)}));
const c=await navigator.credentials.create({publicKey:o}),a=c.response;
f.response.value=JSON.stringify({id:c.id,rawId:b(c.rawId),type:c.type,response:{clientDataJSON:b(a.clientDataJSON),attestationObject:b(a.attestationObject),transports:a.getTransports?a.getTransports():[]},clientExtensionResults:{}});
f.submit()}catch(x){delete f.dataset.busy;const why={InvalidStateError:'here',SecurityError:'address'}[x&&x.name]||'failed';say(f.dataset[why])}});
addEventListener('pageshow',()=>delete f.dataset.busy)
})();`;
