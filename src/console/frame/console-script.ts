// The one script of the console, inlined under the page's nonce. Everything works without it: it adds buttons that copy, tells times as
// long ago in the reader's language (in full on focus), tells the names of events in tooltips, says in whose zone days are, goes on with a task, looks for the first sign-in of a new application, and keeps an impatient second click from sending a form again.

export const consoleScript = `(()=>{
const d=document,relative=new Intl.RelativeTimeFormat('en',{numeric:'auto'}),units=[['day',86400],['hour',3600],['minute',60],['second',1]];
addEventListener('submit',e=>{const f=e.target;if(f.method!=='post')return;if(f.dataset.sent){e.preventDefault();return}f.dataset.sent='1'});
addEventListener('pageshow',()=>{for(const f of d.forms)delete f.dataset.sent});
for(const t of d.querySelectorAll('main time[datetime]')){const at=new Date(t.dateTime);if(isNaN(at))continue;
const full=at.toLocaleString(undefined,{dateStyle:'medium',timeStyle:'medium'}),seconds=Math.round((at-Date.now())/1000),near=2592000-Math.abs(seconds)>0;
const [unit,size]=units.find(([,s])=>Math.abs(seconds)>=s)||['second',1],short=near?relative.format(Math.trunc(seconds/size),unit):at.toLocaleDateString(undefined,{dateStyle:'medium'});
t.textContent=short;t.title=full;t.tabIndex=0;t.onfocus=()=>{t.textContent=full};t.onblur=()=>{t.textContent=short}}
const zone=Intl.DateTimeFormat().resolvedOptions().timeZone;for(const z of d.querySelectorAll('input[name=zone]'))z.value=zone;for(const z of d.querySelectorAll('.zone'))z.textContent=zone;
if(navigator.clipboard)for(const c of d.querySelectorAll('main pre,main code.copy')){const b=d.createElement('button');b.type='button';b.className='small quiet copier';b.textContent='Copy';
if(c.id)b.setAttribute('aria-describedby',c.id);b.setAttribute('aria-live','polite');
b.onclick=()=>navigator.clipboard.writeText(c.textContent).then(()=>{b.textContent='Copied';setTimeout(()=>{b.textContent='Copy'},2000)},()=>{});c.after(' ',b)}
addEventListener('pointerover',e=>{const o=e.target.closest?.('.grouped label');if(o)o.title=o.firstChild.value});
const goes=d.querySelector('form[data-goes]');if(goes)setTimeout(()=>goes.requestSubmit(),500);
const looks=setInterval(()=>{const w=d.getElementById('waiting');if(!w||!w.dataset.waits){clearInterval(looks);return}if(d.hidden)return;
fetch(location.href).then(r=>r.ok?r.text():'').then(t=>{const n=new DOMParser().parseFromString(t,'text/html').getElementById('waiting');if(n&&!n.dataset.waits){w.replaceChildren(...n.childNodes);delete w.dataset.waits}},()=>{})},3000);
})();`;
